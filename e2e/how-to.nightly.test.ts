import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startServerProgram } from '@earshot/engines';
import { expect, test } from 'vitest';
import { startWorld } from './src/world.ts';

const root = resolve(import.meta.dirname, '..');
/** Seven at most; six with a tool and a command. */
const filesTouched = 6;

interface Step {
  readonly path: string;
  readonly kind: 'diff' | 'ts';
  readonly lines: readonly string[];
}

/** The changes that a page shows: each block of code belongs to the path that is named last before it. */
function stepsOf(page: string): Step[] {
  const steps: Step[] = [];
  let path = '';
  for (const [, named, kind, code = ''] of page.matchAll(
    /`([\w./-]+\.ts)`\n|^```(diff|ts)\n([\s\S]*?)^```$/gm,
  )) {
    if (named !== undefined) path = named;
    else if (kind === 'diff' || kind === 'ts')
      steps.push({ path, kind, lines: code.split('\n').slice(0, -1) });
  }
  return steps;
}

/** The lines that a diff removes or keeps must occur exactly once. */
function applyDiff(text: string, lines: readonly string[]): string {
  const side = (left: string) =>
    lines.filter((line) => !line.startsWith(left)).map((line) => `${line.slice(1)}\n`);
  const [before, after] = [side('+').join(''), side('-').join('')];
  if (text.split(before).length !== 2) throw new Error(`not there exactly once:\n${before}`);
  return text.replace(before, () => after);
}

async function applyPage(copy: string, page: string): Promise<string[]> {
  const steps = stepsOf(page);
  for (const { path, kind, lines } of steps) {
    const file = join(copy, path);
    await mkdir(dirname(file), { recursive: true });
    const text = kind === 'ts' ? `${lines.join('\n')}\n` : applyDiff(await readFile(file, 'utf8'), lines);
    await writeFile(file, text);
  }
  return [...new Set(steps.map(({ path }) => path))];
}

/** The sources with the links between the packages; installed packages are shared. */
async function copyRepository(): Promise<AsyncDisposable & { dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-how-to-'));
  for (const part of ['apps', 'packages', 'package.json', 'docs/rules.schema.json']) {
    // The packages of the n8n nodes are large, and nothing here imports them.
    const filter = (path: string) => !path.includes('n8n-nodes-earshot');
    await cp(join(root, part), join(dir, part), { recursive: true, verbatimSymlinks: true, filter });
  }
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

test('docs/how-to/add-an-operation.md adds an operation that all clients can use', async () => {
  await using copy = await copyRepository();
  const page = await readFile(join(root, 'docs/how-to/add-an-operation.md'), 'utf8');
  const touched = await applyPage(copy.dir, page);
  expect(touched).toHaveLength(filesTouched);
  expect(touched).toContain('apps/server/src/compose/api.ts');

  await using world = await startWorld();
  const account = await world.newAccount();
  const server = await startServerProgram({
    script: join(copy.dir, 'apps/server/src/main.ts'),
    env: {
      EARSHOT_DATABASE_URL: world.databaseUrl,
      EARSHOT_NATS_URL: world.nats.url,
      EARSHOT_ROLES: 'api',
    },
    logFile: join(copy.dir, 'server.log'),
  });
  await using _stopped = { [Symbol.asyncDispose]: () => server.stop() };
  const url = server.ready.address;
  const ask = (key: string) =>
    fetch(new URL('/api.CountRules', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    });
  const answer = await ask(account.key);
  expect([answer.status, await answer.json()]).toEqual([200, { count: 0 }]);
  expect((await ask('esk_unknown')).status).toBe(401);

  const { createEarshot } = await import(join(copy.dir, 'packages/sdk/src/index.ts'));
  expect(await createEarshot({ url, key: account.key }).countRules()).toEqual({ count: 0 });

  const cli = [join(copy.dir, 'apps/cli/src/main.ts'), 'rules', 'count'];
  const env = { ...process.env, EARSHOT_URL: url, EARSHOT_API_KEY: account.key };
  expect((await promisify(execFile)(process.execPath, cli, { env })).stdout).toBe('0\n');

  const tool = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${account.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'count_rules', arguments: {} },
    }),
  });
  expect(await tool.text()).toContain('"structuredContent":{"count":0}');
});
