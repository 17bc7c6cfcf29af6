import { execFile } from 'node:child_process';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgresBinaries, startPostgres, startServerProgram, unprivilegedUser } from '@earshot/engines';
import { migrate } from '@earshot/server/admin';
import { eventually, startTestNats } from '@earshot/testkit';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, createApi } from './src/api.ts';
import { makeOpenDir, newAccount, run, startMachine, startTrial, untilListening } from './src/machine.ts';
import { readCommands } from './src/page-blocks.ts';

const within = { timeoutMs: 90_000 };
const page = 'docs/backup-and-restore.md';
const readPage = () =>
  readCommands(page, [
    'baseBackUp',
    'dump',
    'putBack',
    'restoreDump',
    'isComplete',
    'rowsPutBack',
    'logLost',
    'isCopy',
  ]);

/** An installation with a rule and one match, of which a backup is made. */
let installed: Awaited<ReturnType<typeof install>>;
beforeEach(async () => {
  installed = await install();
});
afterEach(() => installed?.stack.disposeAsync());

async function install() {
  const { stack, dir, upstreams, sandbox } = await startTrial();
  const machine = await startMachine(stack, dir);
  await migrate(machine.urls.owner);
  const { key } = await newAccount(machine.urls.owner);
  const startServer = async (env: Record<string, string>) => {
    const logFile = join(dir, 'server.log');
    const server = stack.use(await startServerProgram({ env: { ...env, ...upstreams }, logFile }));
    return { server, api: createApi(server.ready.address, key) };
  };
  const running = await startServer(machine.env);
  const { rule_id: ruleId } = await running.api.createRule({ x: 'walnut' });
  const deliver = async (api: Api, text: string, matches: number) => {
    await untilListening(sandbox);
    await sandbox.posts([text]);
    await eventually(async () => expect(await api.allMatches()).toHaveLength(matches), within);
  };
  await deliver(running.api, 'a walnut', 1);
  const [first] = await running.api.allMatches();
  const { password, port } = new URL(machine.urls.superuser);
  const backup = await makeOpenDir(join(dir, 'backups'));
  const variables = {
    PGHOST: '127.0.0.1',
    PGPORT: port,
    PGUSER: 'postgres',
    PGPASSWORD: password,
    BACKUP: join(backup, 'earshot'),
    DATA: machine.postgres.dataDir,
    EARSHOT_MIGRATION_DATABASE_URL: machine.urls.owner,
  };
  return {
    stack,
    dir,
    machine,
    startServer,
    running,
    ruleId,
    first,
    deliver,
    run: (command: string, env = {}) => run(command, { ...variables, ...env }, { cwd: backup }),
    runAsPostgres: (command: string) => run(command, variables, { cwd: '/', asPostgres: true }),
  };
}

const textsOf = async (api: Api) => (await api.allMatches()).map(({ payload }) => payload.text);

test('a base backup is restored while the node and NATS run: the rule, the match and the key exist, and the log adds the rest', async () => {
  const { machine, running, ruleId, first, deliver, runAsPostgres } = installed;
  const { api } = running;
  const { baseBackUp, putBack } = await readPage();
  await runAsPostgres(baseBackUp);
  await deliver(api, 'a walnut since', 2);
  const { port } = machine.postgres;
  await machine.postgres.kill();
  await runAsPostgres(putBack);
  installed.stack.use(await startPostgres({ dir: join(installed.dir, 'postgres'), port }));

  await eventually(async () => expect(await textsOf(api)).toEqual(['a walnut', 'a walnut since']), within);
  expect((await api.allMatches())[0]?.id).toBe(first?.id);
  expect((await api.listRules()).rules.map(({ id }) => id)).toEqual([ruleId]);
  await deliver(api, 'a walnut afterwards', 3);
});

test('a dump is restored on a new server: the rule, the match and the key exist, and the log adds the rest', async () => {
  const { dir, machine, running, startServer, ruleId, first, deliver, ...on } = installed;
  const { dump, restoreDump, isComplete } = await readPage();
  await on.run(dump);
  await deliver(running.api, 'a walnut since', 2);
  await running.server.stop();
  await machine.postgres.kill();

  const fresh = await newServer(join(dir, 'fresh'), join(dir, 'postgres'));
  const owner = new URL(machine.urls.owner);
  owner.port = String(fresh.port);
  const there = { PGPORT: String(fresh.port), EARSHOT_MIGRATION_DATABASE_URL: owner.href };
  await on.run(restoreDump, there);
  expect(await on.run(isComplete, there)).toBe('There are no pending migrations.\n');
  const moved = (url: string) => url.replace(`:${machine.postgres.port}/`, `:${fresh.port}/`);
  const { api } = await startServer(
    Object.fromEntries(Object.entries(machine.env).map(([name, value]) => [name, moved(value)])),
  );
  await eventually(async () => expect(await textsOf(api)).toEqual(['a walnut', 'a walnut since']), within);
  expect((await api.allMatches())[0]?.id).toBe(first?.id);
  expect((await api.listRules()).rules.map(({ id }) => id)).toEqual([ruleId]);
  await deliver(api, 'a walnut afterwards', 3);
});

/** A PostgreSQL without our roles and database; its superuser has the same password as in the other folder. */
async function newServer(dir: string, like: string) {
  const runAs = await unprivilegedUser();
  await makeOpenDir(dir);
  await copyFile(join(like, 'passwords.json'), join(dir, 'passwords.json'));
  const { password } = new URL(installed.machine.urls.superuser);
  await writeFile(join(dir, 'password'), password, { mode: 0o644 });
  const args = ['-D', join(dir, 'data'), '--username=postgres', '--auth=scram-sha-256'];
  const initdb = join(await findPostgresBinaries(), 'initdb');
  await promisify(execFile)(initdb, [...args, `--pwfile=${join(dir, 'password')}`], { cwd: '/', ...runAs });
  return installed.stack.use(await startPostgres({ dir }));
}

test('one command reports what Earshot cannot detect automatically, and the node starts again', async () => {
  const { dir, machine, running, startServer, deliver, ...on } = installed;
  const { rowsPutBack, logLost, isCopy } = await readPage();
  await running.server.stop();
  const said = 'A new incarnation of the match log starts with the next match.\n';
  expect(await on.run(rowsPutBack)).toBe(`${said}Start the nodes.\n`);
  const again = await startServer(machine.env);
  await deliver(again.api, 'a walnut of the next incarnation', 2);
  await again.server.stop();

  await machine.nats.stop();
  await rm(join(dir, 'nats'), { recursive: true });
  const nats = installed.stack.use(await startTestNats({ dir: join(dir, 'nats'), password: 'machine' }));
  expect(await on.run(logLost)).toContain('The next event log is accepted');
  const withNewLog = await startServer({ ...machine.env, EARSHOT_NATS_URL: nats.url });
  await deliver(withNewLog.api, 'a walnut in a new log', 3);
  await withNewLog.server.stop();

  const installation = async () => {
    const client = new Client({ connectionString: machine.urls.superuser });
    await client.connect();
    const { rows } = await client.query('select id from installation');
    await client.end();
    return rows;
  };
  const original = await installation();
  expect(await on.run(isCopy)).toContain('This is now a separate installation. 0 webhooks are paused.');
  expect(original).toHaveLength(1);
  expect(await installation()).not.toEqual(original);
});
