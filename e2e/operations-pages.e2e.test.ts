import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, startPostgres, startServerProgram } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { migrate, openAdmin } from '@earshot/server/admin';
import { eventually, startTestNats } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createApi } from './src/api.ts';
import { type RunningCommand, repository, startCommand } from './src/demo-process.ts';
import { readShellBlocks } from './src/page-blocks.ts';
import { createSandboxClient } from './src/sandbox-client.ts';
import { tapToken, xToken } from './src/world.ts';

async function run(command: string, env: Record<string, string>): Promise<string> {
  const options = { env: { ...process.env, ...env }, cwd: repository };
  return (await promisify(execFile)('/bin/sh', ['-ec', command], options)).stdout;
}

/** PostgreSQL and NATS as one machine has them, both below one folder. */
async function startMachine(stack: AsyncDisposableStack, dir: string) {
  const postgres = await startPostgres({ dir: join(dir, 'postgres') });
  const nats = await startTestNats({ dir: join(dir, 'nats'), password: 'machine' });
  const stop = async () => {
    await nats.stop();
    await postgres.stop();
  };
  stack.defer(stop);
  const env = {
    EARSHOT_DATABASE_URL: postgres.urls.runtime,
    EARSHOT_ACCOUNT_DATABASE_URL: postgres.urls.account,
    EARSHOT_MIGRATION_DATABASE_URL: postgres.urls.owner,
    EARSHOT_NATS_URL: nats.url,
    EARSHOT_X_TOKENS: `main=${xToken}`,
    EARSHOT_FIREHOSE_TOKENS: `main=${tapToken}`,
    EARSHOT_X_RULE_DELAY_MS: '0',
  };
  return { env, stop, urls: postgres.urls };
}

async function startTrial() {
  const stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-pages-'));
  // Root's PostgreSQL runs as another user, who must get through to its data.
  await chmod(dir, 0o711);
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const sandbox = stack.use(
    await startSandbox({ xApps: [{ token: xToken }], taps: [{ token: tapToken }], ruleDelayMs: 0 }),
  );
  const upstreams = { EARSHOT_X_BASE_URL: sandbox.url, EARSHOT_FIREHOSE_BASE_URL: sandbox.url };
  return { stack, dir, upstreams, sandbox: createSandboxClient(sandbox.url) };
}

async function newKey(url: string): Promise<string> {
  await using admin = await openAdmin(url);
  const { accountId } = await admin.createAccount({ name: 'pages' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  return created.key;
}

test('docs/operations/several-nodes.md: two nodes share the roles, and a third takes over what one leaves', async () => {
  const { stack, dir, upstreams, sandbox } = await startTrial();
  await using _stack = stack;
  const machine = await startMachine(stack, join(dir, 'machine'));
  const env = { ...machine.env, ...upstreams };
  const ports = await freePorts(4);
  const named = ['8080', '9464', '9465', '9466'];
  const onFreePorts = (text: string) =>
    text.replaceAll(/\b(8080|946[456])\b/g, (port) => String(ports[named.indexOf(port)]));
  const [api = '', rest = '', ready = '', third = '', holders = '', ...more] = (
    await readShellBlocks('docs/operations/several-nodes.md')
  ).map(onFreePorts);
  expect(more).toEqual([]);
  const start = async (command: string): Promise<RunningCommand> => {
    const node = startCommand('/bin/sh', ['-c', command.replace(' node ', ' exec node ')], dir, env);
    stack.defer(async () => {
      node.process.kill('SIGTERM');
      await node.exited;
    });
    await node.line(/earshot is up/);
    return node;
  };

  await start(api);
  const second = await start(rest);
  expect(await run(ready, env)).toBe('{"status":"ready"}{"status":"ready"}');

  const caller = createApi(`http://127.0.0.1:${ports[0]}`, await newKey(machine.urls.owner));
  await caller.createRule({ x: 'walnut' });
  await sandbox.posts(['a walnut']);
  await eventually(async () => expect(await caller.allMatches()).toHaveLength(1), { timeoutMs: 30_000 });

  await start(third);
  const before = (await run(holders, env)).trim().split('\n');
  expect(before.map((line) => line.split('|')[0] ?? '').toSorted()).toEqual([
    'ingest:firehose:main',
    'ingest:x:main',
  ]);
  second.process.kill('SIGINT');
  expect(await second.exited).toBe(0);
  await eventually(
    async () => {
      const after = (await run(holders, env)).trim().split('\n');
      expect(after).toHaveLength(2);
      expect(after.filter((line) => before.includes(line))).toEqual([]);
    },
    { timeoutMs: 30_000 },
  );
});

test.each([
  { what: 'with the store of NATS', keepsStore: true },
  { what: 'without it', keepsStore: false },
])(
  'docs/operations/moving.md, $what: the copy has the same keys, rules, matches and cursors',
  async ({ keepsStore }) => {
    const { stack, dir, upstreams, sandbox } = await startTrial();
    await using _stack = stack;
    const [oldDir, newDir, bin] = [join(dir, 'old'), join(dir, 'new'), join(dir, 'bin')];
    for (const folder of [oldDir, newDir, bin]) await mkdir(folder, { mode: 0o755 });
    // The other machine is another folder of this one.
    await writeFile(join(bin, 'ssh'), '#!/bin/sh\nshift\nexec /bin/sh -c "$*"\n', { mode: 0o755 });
    const [copy = '', look = '', logIsLost = '', ...more] =
      await readShellBlocks('docs/operations/moving.md');
    expect(more).toEqual([]);
    const [example, command = ''] = copy.split('\n');
    expect(example).toBe('OLD=/var/lib/earshot NEW=/var/lib/earshot');

    const old = await startMachine(stack, oldDir);
    await migrate(old.urls.owner);
    const key = await newKey(old.urls.owner);
    const startServer = async (env: Record<string, string>) => {
      const logFile = join(dir, 'server.log');
      const server = stack.use(await startServerProgram({ env: { ...env, ...upstreams }, logFile }));
      return { server, url: server.ready.address, api: createApi(server.ready.address, key) };
    };
    const before = await startServer(old.env);
    const { rule_id: ruleId } = await before.api.createRule({ x: 'walnut', firehose: 'walnut' });
    await sandbox.posts(['a walnut']);
    await eventually(async () => expect(await before.api.allMatches()).toHaveLength(1), {
      timeoutMs: 30_000,
    });
    const { next_cursor: cursor } = await before.api.matches({ order: 'oldest' });
    const [first] = await before.api.allMatches();
    await before.server.stop();
    await old.stop();

    const environment = { OLD: oldDir, NEW: newDir, PATH: `${bin}:${process.env['PATH']}` };
    await run(keepsStore ? command : command.replace(' nats ', ' '), environment);
    const moved = await startMachine(stack, newDir);
    if (!keepsStore) await run(logIsLost, moved.env);
    const after = await startServer(moved.env);
    const seen = await run(look, { EARSHOT_URL: after.url, EARSHOT_API_KEY: key });
    expect(seen).toContain('{"status":"ready"}');
    expect((await after.api.listRules()).rules.map(({ id }) => id)).toEqual([ruleId]);
    await eventually(async () => expect((await sandbox.xState(xToken)).connections.open).toBe(1), {
      timeoutMs: 30_000,
    });
    await sandbox.posts(['another walnut']);
    await eventually(
      async () => {
        const { matches } = await after.api.matches({ order: 'oldest', ...(cursor && { cursor }) });
        expect(matches.map(({ payload }) => payload.text)).toEqual(['another walnut']);
      },
      { timeoutMs: 30_000 },
    );
    expect((await after.api.allMatches()).map(({ id }) => id)).toContain(first?.id);
  },
);
