import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

const main = join(import.meta.dirname, '../src/main.ts');
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-services-'));
  // If root starts PostgreSQL, it runs as another user, who needs access to the folder.
  await chmod(dir, 0o755);
});
afterEach(async () => {
  await services('down');
  await rm(dir, { recursive: true, force: true });
});

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const services = (...args: string[]): Promise<Outcome> => servicesWith(inject('natsServer'), args);

function servicesWith(natsServer: string, args: string[]): Promise<Outcome> {
  const env = { ...process.env, EARSHOT_NATS_SERVER: natsServer };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, 'services', ...args, '--dir', dir],
      { env },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

async function status(): Promise<{
  running: boolean;
  servers: { name: string; pid: number; running: boolean }[];
}> {
  return JSON.parse((await services('status', '--json')).stdout);
}

test('services run until "down", and keep their addresses', async () => {
  const first = await services('up');
  const database = (user: string) => `postgres://${user}:[0-9a-f]{48}@127\\.0\\.0\\.1:\\d+/earshot`;
  const settings = [
    `EARSHOT_DATABASE_URL=${database('earshot_runtime')}`,
    `EARSHOT_ACCOUNT_DATABASE_URL=${database('earshot_account')}`,
    `EARSHOT_MIGRATION_DATABASE_URL=${database('earshot_owner')}`,
    'EARSHOT_NATS_URL=nats://earshot:[0-9a-f]{48}@127\\.0\\.0\\.1:\\d+',
  ];
  expect(first.stdout).toMatch(new RegExp(`^${settings.join('\\n')}\\n$`));
  expect(await status()).toMatchObject({
    running: true,
    servers: [
      { name: 'postgres', running: true },
      { name: 'nats n1', running: true },
    ],
  });

  const again = await services('up');
  expect(again).toMatchObject({ code: 0, stdout: first.stdout, stderr: 'The services already run.\n' });
  expect(await services('up', '--cluster')).toMatchObject({ code: 1, stdout: '' });

  expect(await services('down')).toMatchObject({ code: 0, stderr: 'Stopped postgres, nats n1.\n' });
  expect(await status()).toEqual({ running: false, servers: [] });
  expect((await services('up')).stdout).toBe(first.stdout);
});

test('status shows a server that died, and "up" restarts it', async () => {
  const { stdout } = await services('up', '--cluster');
  expect(stdout.match(/nats:/g)).toHaveLength(3);
  const node = (await status()).servers.find(({ name }) => name === 'nats n2');
  process.kill(node?.pid ?? 0, 'SIGKILL');
  await expect
    .poll(async () => (await services('status')).stdout, { timeout: 30_000 })
    .toContain('nats n2   is down');
  expect((await services('up', '--cluster')).stdout).toBe(stdout);
  expect(await status()).toMatchObject({ running: true });
});

test('down does not stop another process that has the pid of a dead server', async () => {
  await services('up');
  const [postgres] = (await status()).servers;
  process.kill(postgres?.pid ?? 0, 'SIGKILL');
  const other = spawn('sleep', ['60']);
  const stateFile = join(dir, 'state.json');
  const state = await readFile(stateFile, 'utf8');
  await writeFile(stateFile, state.replace(`"pid": ${postgres?.pid}`, `"pid": ${other.pid}`));
  expect(await services('down')).toMatchObject({ code: 0, stderr: 'Stopped nats n1.\n' });
  expect(other.kill('SIGKILL')).toBe(true);
  const [, signal] = await once(other, 'exit');
  expect(signal).toBe('SIGKILL');
});

test('fails if the configured nats-server does not exist', async () => {
  const outcome = await servicesWith('/nowhere/nats-server', ['up']);
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain('/nowhere/nats-server is not a nats-server of version 2.14.5 or newer');
});
