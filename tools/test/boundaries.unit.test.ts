import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findBoundaryViolations } from '../boundaries.ts';

interface Tree extends AsyncDisposable {
  dir: string;
  /** Writes files with these imports (from, to) and checks the tree; every file that is named exists. */
  violationsOf(...imports: readonly (readonly [string, string])[]): Promise<string[]>;
}

async function makeTree(): Promise<Tree> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-boundaries-'));
  await Promise.all(['packages', 'apps', 'e2e'].map((folder) => mkdir(join(dir, folder))));
  return {
    dir,
    async violationsOf(...imports) {
      const texts = new Map<string, string>();
      for (const [from, to] of imports) {
        const up = '../'.repeat(from.split('/').length - 1);
        texts.set(from, `${texts.get(from) ?? ''}import '${up}${to}';\n`);
        texts.set(to, texts.get(to) ?? '');
      }
      for (const [path, text] of texts) await writeInto(join(dir, path), text);
      return (await findBoundaryViolations(dir)).violations;
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const server = 'apps/server/src';

const forbidden = [
  ['packages/query/src/a.ts', 'packages/contract/src/a.ts', 'packages/query-direction'],
  ['packages/engines/src/a.ts', 'packages/query/src/a.ts', 'packages/engines-direction'],
  ['packages/sandbox/src/a.ts', 'packages/contract/src/a.ts', 'packages/sandbox-direction'],
  ['packages/testkit/src/a.ts', 'apps/server/src/admin.ts', 'packages/testkit-direction'],
  ['packages/contract/src/a.ts', 'apps/server/src/main.ts', 'packages/contract-direction'],
  ['packages/query/test/a.ts', 'apps/server/src/main.ts', 'packages/query-test-direction'],
  ['apps/server/src/main.ts', 'packages/engines/src/index.ts', 'apps/server-direction'],
  ['apps/cli/src/a.ts', 'apps/server/src/compose/a.ts', 'apps/cli-direction'],
  ['packages/contract/src/a.ts', 'packages/sdk/src/a.ts', 'packages/contract-direction'],
  ['packages/sdk/src/a.ts', 'packages/query/src/a.ts', 'packages/sdk-direction'],
  // Only its types.
  ['packages/sdk/src/a.ts', 'packages/contract/src/a.ts', 'sdk-types-only'],
  ['packages/newcomer/src/a.ts', 'packages/query/src/a.ts', 'unlisted-package'],
  [`${server}/rules/a.ts`, `${server}/http/a.ts`, 'capability-inward'],
  [`${server}/matching/a.ts`, `${server}/config/config.ts`, 'capability-inward'],
  [`${server}/runtime/a.ts`, `${server}/compose/a.ts`, 'capability-inward'],
  [`${server}/engines/a.ts`, `${server}/config/config.ts`, 'capability-inward'],
  [`${server}/event-log/a.ts`, `${server}/matching/a.ts`, 'event-log-downward'],
  [`${server}/language/a.ts`, `${server}/rules/a.ts`, 'language-downward'],
  [`${server}/upstream/x/a.ts`, `${server}/event-log/a.ts`, 'upstream-downward'],
  [`${server}/engines/a.ts`, `${server}/upstream/a.ts`, 'engines-downward'],
  [`${server}/runtime/a.ts`, `${server}/engines/a.ts`, 'runtime-downward'],
  [`${server}/observability/a.ts`, `${server}/runtime/a.ts`, 'observability-downward'],
  [`${server}/http/a.ts`, `${server}/engines/a.ts`, 'http-apart'],
  [`${server}/http/a.ts`, `${server}/upstream/x/a.ts`, 'http-apart'],
  [`${server}/http/a.ts`, `${server}/compose/a.ts`, 'http-apart'],
  [`${server}/http/a.ts`, 'node_modules/pg/index.ts', 'drivers-in-engines'],
  [`${server}/rules/a.ts`, 'node_modules/@nats-io/jetstream/index.ts', 'drivers-in-engines'],
  [`${server}/rules/a.ts`, 'node_modules/undici/index.ts', 'outgoing-http'],
  [`${server}/rules/a.ts`, 'node_modules/fastify/index.ts', 'fastify-in-http'],
] as const;

const permitted = [
  ['packages/contract/src/a.ts', 'packages/query/src/a.ts'],
  ['packages/query/test/a.ts', 'packages/testkit/src/a.ts'],
  ['apps/cli/src/a.ts', 'apps/server/src/admin.ts'],
  ['apps/server/test/a.int.test.ts', 'packages/testkit/src/index.ts'],
  [`${server}/rules/a.ts`, `${server}/slots/a.ts`],
  [`${server}/rules/a.ts`, `${server}/observability/a.ts`],
  [`${server}/http/a.ts`, `${server}/rules/a.ts`],
  [`${server}/rules/a.ts`, `${server}/engines/a.ts`],
  [`${server}/event-log/a.ts`, `${server}/upstream/a.ts`],
  [`${server}/event-log/a.ts`, 'node_modules/@nats-io/jetstream/index.ts'],
  [`${server}/engines/a.ts`, 'node_modules/pg/index.ts'],
  [`${server}/compose/a.ts`, `${server}/engines/a.ts`],
  [`${server}/main.ts`, `${server}/config/config.ts`],
] as const;

describe('one tree with all of these imports', () => {
  let violations: string[];
  beforeAll(async () => {
    await using tree = await makeTree();
    violations = await tree.violationsOf(...forbidden.map(([from, to]) => [from, to] as const), ...permitted);
  });

  test.for(forbidden)('%s must not import %s', ([from, to, rule]) => {
    expect(violations).toContain(`${rule}: ${from} → ${to}`);
  });

  test.for(permitted)('%s may import %s', ([from, to]) => {
    expect(violations.filter((violation) => violation.endsWith(`: ${from} → ${to}`))).toEqual([]);
  });
});

test('a cycle is reported', async () => {
  await using tree = await makeTree();
  const [a, b] = ['packages/query/src/a.ts', 'packages/query/src/b.ts'] as const;
  expect(await tree.violationsOf([a, b], [b, a])).toContainEqual(expect.stringContaining('no-cycle'));
});

test('an import of a type counts', async () => {
  await using tree = await makeTree();
  await writeInto(join(tree.dir, server, 'http/a.ts'), 'export type A = 1;\n');
  await writeInto(
    join(tree.dir, server, 'rules/a.ts'),
    "import type { A } from '../http/a.ts';\nexport type B = A;\n",
  );
  expect(await tree.violationsOf()).toEqual([
    `capability-inward: ${server}/rules/a.ts → ${server}/http/a.ts`,
  ]);
});

test('an import that cannot be followed is reported', async () => {
  await using tree = await makeTree();
  await writeInto(join(tree.dir, 'packages/query/src/a.ts'), "import '@earshot/nowhere';\n");
  expect(await tree.violationsOf()).toEqual(['no-unresolved: packages/query/src/a.ts → @earshot/nowhere']);
});

test('a tree without sources is an error', async () => {
  await using tree = await makeTree();
  await expect(tree.violationsOf()).rejects.toThrow('found no sources');
});
