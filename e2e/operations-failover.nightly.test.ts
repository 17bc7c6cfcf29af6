import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, startServerProgram } from '@earshot/engines';
import { migrate } from '@earshot/server/admin';
import { eventually, startTcpProxy } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createApi } from './src/api.ts';
import { makeOpenDir, newAccount, run, startMachine, startTrial, untilListening } from './src/machine.ts';
import { readCommands } from './src/page-blocks.ts';

const within = { timeoutMs: 90_000 };

test('docs/operations/failover.md: a synchronous standby takes over, and the node continues without a restart', async () => {
  const { createRole, copy, lag, wait, promote } = await readCommands('docs/operations/failover.md', [
    'createRole',
    'copy',
    'lag',
    'wait',
    'promote',
  ]);
  const { stack, dir, upstreams, sandbox } = await startTrial();
  await using _stack = stack;
  const machine = await startMachine(stack, dir);
  await migrate(machine.urls.owner);
  const target = { port: machine.postgres.port };
  const address = stack.use(await startTcpProxy({ target }));
  const env = Object.fromEntries(
    Object.entries(machine.env).map(([name, value]) => [
      name,
      value.replace(`:${machine.postgres.port}/`, `:${address.port}/`),
    ]),
  );
  const logFile = join(dir, 'server.log');
  const server = stack.use(await startServerProgram({ env: { ...env, ...upstreams }, logFile }));
  const api = createApi(server.ready.address, (await newAccount(machine.urls.owner)).key);
  await api.createRule({ x: 'walnut' });
  const deliver = async (text: string, matches: number) => {
    await untilListening(sandbox);
    await sandbox.posts([text]);
    await eventually(async () => expect(await api.allMatches()).toHaveLength(matches), within);
  };
  await deliver('a walnut', 1);

  const standbyDir = await makeOpenDir(join(dir, 'standby'));
  const primary = { PRIMARY: machine.urls.superuser };
  await run(createRole, primary);
  await copyFile(join(dir, 'postgres/passwords.json'), join(standbyDir, 'passwords.json'));
  const replication = `postgres://replicator:change-me@127.0.0.1:${machine.postgres.port}/postgres`;
  const variables = { REPLICATION: replication, STANDBY_DATA: join(standbyDir, 'data') };
  await run(copy, variables, { cwd: '/', asPostgres: true });
  const standby = stack.use(await startPostgres({ dir: standbyDir }));
  await eventually(
    async () => expect(await run(lag, primary)).toMatch(/walreceiver +\| streaming \| async/),
    within,
  );
  await run(wait, primary);
  await eventually(
    async () => expect(await run(lag, primary)).toMatch(/walreceiver +\| streaming \| sync/),
    within,
  );
  await deliver('a walnut that both have', 2);
  const before = await api.allMatches();

  address.refuse(true);
  await machine.postgres.kill();
  expect(await run(promote, { STANDBY: standby.urls.superuser })).toBe('t\n');
  target.port = standby.port;
  address.refuse(false);
  await eventually(async () => expect(await api.allMatches()).toEqual(before), within);
  await deliver('a walnut afterwards', 3);
});
