import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { domainValues } from '../../src/firehose/domain.ts';
import type { Page } from './random.ts';

const jars = ['core', 'queryparser', 'analyzers-common'].map(
  (part) => `/usr/share/java/lucene-${part}-4.10.4.jar`,
);
const source = path.join(import.meta.dirname, '../lucene/LuceneVerdicts.java');

/** Debian's `liblucene4.10-java` and a JDK (`javac`). */
export function findMissingForLucene(): string | null {
  const missing = jars.filter((jar) => !existsSync(jar));
  if (missing.length > 0) return `${missing.join(', ')} (apt-get install liblucene4.10-java)`;
  try {
    execFileSync('javac', ['-version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'javac (apt-get install default-jdk-headless)';
  }
}

type LuceneMessage = { document: object } | { query: string } | { text: string };

/** One answer line for each query and text. */
export function askLucene(messages: readonly LuceneMessage[]): string[] {
  const directory = mkdtempSync(path.join(tmpdir(), 'earshot-lucene-'));
  try {
    execFileSync('javac', ['-cp', jars.join(':'), '-d', directory, source]);
    const input = messages.map((message) => JSON.stringify(message)).join('\n');
    const output = execFileSync('java', ['-cp', [directory, ...jars].join(':'), 'LuceneVerdicts'], {
      input: `${input}\n`,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    return output.trimEnd().split('\n');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The page as the fields of an index, with the field values that we assume the platform derives. */
export function indexedPage(page: Page): Record<string, readonly string[]> {
  const domains = domainValues(page.url);
  return {
    added: page.chunks.filter(({ typ }) => typ === 'ins').map(({ text }) => text),
    removed: page.chunks.filter(({ typ }) => typ === 'del').map(({ text }) => text),
    title: listOf(page.title),
    url: [page.url],
    domain: [...domains.sure, ...domains.possible],
    publish_time: listOf(page.publish_time),
    page_category: page.page_category ?? [],
    page_type: page.page_types ?? [],
    language: listOf(page.language),
  };
}

function listOf(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}
