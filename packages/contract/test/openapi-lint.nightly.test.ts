import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../src/index.ts';

const run = promisify(execFile);
const linters = fileURLToPath(new URL('../lint/', import.meta.url));

/** What a linter reports about a document; the linters contact no other machine. */
async function lint(document: object, program: 'redocly' | 'spectral') {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const options =
      program === 'redocly' ? ['--format=stylish'] : ['--ruleset', join(linters, '.spectral.yaml')];
    const { stdout } = await run(join(linters, 'node_modules/.bin', program), ['lint', file, ...options], {
      cwd: linters,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    return { passed: true, output: stdout };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { passed: false, output: stdout + stderr };
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe.each(['redocly', 'spectral'] as const)('%s', (program) => {
  test('finds no error in the OpenAPI document', { timeout: 60_000 }, async () => {
    expect(await lint(openApiDocument({ baseUrl: 'https://earshot.example' }), program)).toMatchObject({
      passed: true,
    });
  });

  test('control: finds two operations with one id', { timeout: 60_000 }, async () => {
    const document = openApiDocument({ baseUrl: 'https://earshot.example' });
    const { '/matches': matches, ...others } = document.paths;
    const broken = { ...document, paths: { ...others, '/matches': matches, '/again': matches } };
    expect(await lint(broken, program)).toMatchObject({ passed: false });
  });
});
