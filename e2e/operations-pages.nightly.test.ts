import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts, startServerProgram } from '@earshot/engines';
import { migrate } from '@earshot/server/admin';
import { eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createApi } from './src/api.ts';
import { type RunningCommand, startCommand } from './src/demo-process.ts';
import { newAccount, run, startMachine, startTrial, untilListening } from './src/machine.ts';
import { readCommands, readShellBlocks } from './src/page-blocks.ts';

test('docs/operations/several-nodes.md: two nodes share the roles, and a third takes over from one that stops', async () => {
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

  const caller = createApi(`http://127.0.0.1:${ports[0]}`, (await newAccount(machine.urls.owner)).key);
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
    // Another folder of this machine stands for the other machine.
    await writeFile(join(bin, 'ssh'), '#!/bin/sh\nshift\nexec /bin/sh -c "$*"\n', { mode: 0o755 });
    const { copy, look, logIsLost } = await readCommands('docs/operations/moving.md', [
      'copy',
      'look',
      'logIsLost',
    ]);
    const [example, command = ''] = copy.split('\n');
    expect(example).toBe('OLD=/var/lib/earshot NEW=/var/lib/earshot');

    const old = await startMachine(stack, oldDir);
    await migrate(old.urls.owner);
    const { key } = await newAccount(old.urls.owner);
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
    await untilListening(sandbox);
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
