import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variablesOf } from '../../apps/server/src/config/config.ts';
import { settings } from '../../apps/server/src/config/settings.ts';
import { positionOf } from '../../apps/server/src/runtime/ids.ts';
import { gapReasons } from '../../apps/server/src/upstream/upstream-stream.ts';
import { openApiDocument, operations } from '../../packages/contract/src/index.ts';
import { renderCliPage } from '../cli-page.ts';
import { readPages } from '../documentation.ts';

const root = join(import.meta.dirname, '../..');

describe('ids and cursors in pages and in the OpenAPI document have the form of the server', async () => {
  const document = { path: 'the OpenAPI document', text: JSON.stringify(openApiDocument()) };
  const all = [...(await readPages(root)), document];
  const found = (pattern: RegExp) =>
    all.flatMap(({ path, text }) => Array.from(text.matchAll(pattern), ([, id = '']) => ({ path, id })));

  test('of matches', () => {
    const ids = found(/\b(mat_[0-9a-z]+)/g);
    expect(ids.length).toBeGreaterThan(5);
    expect(ids.filter(({ id }) => positionOf(id) === null)).toEqual([]);
  });

  test('of everything else', () => {
    const ids = found(/\b((?:acc|dig|dlv|key|ntc|req|rule|whk)_[0-9A-Za-z]{15,})/g);
    expect(ids.length).toBeGreaterThan(50);
    expect(ids.filter(({ id }) => !/^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/.test(id))).toEqual([]);
  });

  test('of cursors', () => {
    const cursors = found(/"(?:next_|oldest_)?cursor\\?": ?"([^"\\]+)/g).filter(({ id }) => id !== '$CURSOR');
    expect(cursors.length).toBeGreaterThan(3);
    expect(cursors.filter(({ id }) => !/^c[\w-]{23,}$/.test(id))).toEqual([]);
  });
});

test('every metric and every EARSHOT_ variable in a page exists', async () => {
  const all = await readPages(root);
  const metrics = all.find(({ path }) => path === 'docs/operations/metrics.md')?.text ?? '';
  const known = new Set([
    ...(metrics.match(/(?<=`)earshot_\w+/g) ?? []),
    ...Object.values(settings).flatMap((setting) => variablesOf(setting)),
    'EARSHOT_URL',
    'EARSHOT_API_KEY',
    'EARSHOT_TEST',
    'EARSHOT_NATS_SERVER',
    // Set by Kubernetes, and ignored.
    'EARSHOT_SERVICE_HOST',
    // Roles of deploy/postgres-roles.sql.
    'earshot_owner',
    'earshot_runtime',
    'earshot_account',
  ]);
  const unknown = all.flatMap(({ path, text }) =>
    (text.match(/\b(?<!#)(?:earshot_[a-z_]+[a-z]|EARSHOT_[A-Z_]+[A-Z])\b/g) ?? [])
      .filter((name) => !known.has(name.replace(/_(?:bucket|count|sum)$/, '')) && !known.has(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('every field and code that a page for users of the API names exists', async () => {
  const isForUsers = (path: string) =>
    /^(README\.md|docs\/(?!adr|backup|configuration|how-to|operations|scale|upstreams)|skills\/)/.test(path);
  const sources = globSync(['packages/{contract,mcp,query,sdk}/src/**/*.ts', 'sdks/python/src/**/*.py'], {
    cwd: root,
  }).map((path) => readFileSync(join(root, path), 'utf8'));
  const name = /[a-z]+(?:_[a-z0-9]+)+/g;
  const known = new Set<string>([
    ...[JSON.stringify(openApiDocument()), ...sources].flatMap((text) => text.match(name) ?? []),
    ...gapReasons,
    // The code of a violation that only the server reports.
    'example_failed',
    // Of OAuth.
    'client_id',
    'jwks_uri',
  ]);
  const named = (await readPages(root))
    .filter(({ path }) => isForUsers(path))
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g), ([, one = '']) => ({ path, name: one })),
    );
  expect(named.length).toBeGreaterThan(150);
  // The test above checks the names of metrics.
  const unknown = named.filter((one) => !known.has(one.name) && !one.name.startsWith('earshot_'));
  expect(unknown).toEqual([]);
});

test('no written page has a long line twice', async () => {
  // Generated: many commands have the same option.
  const written = (await readPages(root)).filter(({ path }) => path !== 'docs/cli.md');
  for (const { path, text } of written) {
    const lines: string[] = text.replaceAll(/^```[^]*?^```/gm, '').match(/^.{90,}$/gm) ?? [];
    expect([path, lines.filter((line, index) => lines.indexOf(line) < index)]).toEqual([path, []]);
  }
});

test('the page of the command line names the operations without a command', () => {
  const called = globSync('apps/cli/src/**/*.ts', { cwd: root })
    // It requests the permissions of the key for its own use.
    .filter((path) => path !== 'apps/cli/src/commands/mcp.ts')
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  // The commands follow streams through these methods of the SDK.
  const methods: Readonly<Record<string, string>> = {
    StreamMatches: 'followMatches',
    StreamNotices: 'followNotices',
  };
  const without = Object.keys(operations).filter((id) => {
    const method = methods[id] ?? id.charAt(0).toLowerCase() + id.slice(1);
    return !new RegExp(`\\b${method}\\b`).test(called);
  });
  const [, exceptions = ''] = /every operation of the API except (.*?)\./.exec(renderCliPage()) ?? [];
  expect(exceptions.match(/\w+(?=`)/g)?.toSorted()).toEqual(without.toSorted());
});
