import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const aptDir = '/etc/apt';

/** The machine's own Debian source with another suite, but the same mirror and signing key. */
export async function privateAptSource(suite: string): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const installedSuite = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1];
  if (!/^ID=debian$/m.test(release) || installedSuite === undefined)
    throw new Error('this machine is not Debian');
  const parts = await readdir(join(aptDir, 'sources.list.d')).catch((): string[] => []);
  for (const file of ['sources.list', ...parts.map((part) => join('sources.list.d', part))]) {
    if (!/\.(list|sources)$/.test(file)) continue;
    const text = await readFile(join(aptDir, file), 'utf8').catch(() => '');
    const stanzas = file.endsWith('.list') ? stanzasOfLines(text) : text;
    const source = withSuite(stanzas, { from: installedSuite, to: suite });
    if (source !== undefined) return source;
  }
  throw new Error(`apt has no source for ${installedSuite} on this machine`);
}

/** The stanza (deb822, see sources.list(5)) of one suite, changed to another suite; the rest stays, above all `Signed-By`. */
export function withSuite(text: string, suite: { from: string; to: string }): string | undefined {
  const stanza = text
    .replaceAll(/^#.*\n/gm, '')
    .split(/\n\s*\n/)
    .find((candidate) => {
      const suites = /^Suites:(.*)$/m.exec(candidate)?.[1]?.trim().split(/\s+/);
      return /^Types:.*\bdeb\b/m.test(candidate) && suites?.includes(suite.from);
    });
  return stanza && `${stanza.trim().replace(/^Suites:.*$/m, `Suites: ${suite.to}`)}\n`;
}

/** The older format, `deb [signed-by=key] uri suite components`, as stanzas. */
export function stanzasOfLines(text: string): string {
  const lines = text.matchAll(/^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)$/gm);
  return [...lines]
    .map(([, options, uri, suite, components]) => {
      const key = /signed-by=(\S+)/i.exec(options ?? '')?.[1];
      const fields = ['Types: deb', `URIs: ${uri}`, `Suites: ${suite}`, `Components: ${components}`];
      return [...fields, ...(key === undefined ? [] : [`Signed-By: ${key}`])].join('\n');
    })
    .join('\n\n');
}
