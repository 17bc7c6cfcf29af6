import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@earshot/testkit';
import { inject } from 'vitest';

const deploy = join(import.meta.dirname, '../../deploy');

export interface DeployedNats extends AsyncDisposable {
  /** With the login of Earshot's servers. */
  readonly url: string;
  readonly port: number;
  readonly clusterPort: number;
  log(): Promise<string>;
}

/** Resembles a number with a suffix: without quotes, nats-server would parse it as one. */
export const natsPassword = '12e4k';
export const clusterPassword = '0012';

/** nats-server with an unchanged file of deploy/, except for its address and storage. */
export async function startDeployedNats(
  file: 'nats.conf' | 'nats-cluster.conf' = 'nats.conf',
): Promise<DeployedNats> {
  const [port, monitor, clusterPort] = [await freePort(), await freePort(), await freePort()];
  const dir = await mkdtemp(join(tmpdir(), 'earshot-deployed-'));
  await cp(deploy, dir, { recursive: true });
  const replaced = [
    ['0.0.0.0:4222', `127.0.0.1:${port}`],
    ['0.0.0.0:6222', `127.0.0.1:${clusterPort}`],
    ['127.0.0.1:8222', `127.0.0.1:${monitor}`],
    ['"/data"', JSON.stringify(join(dir, 'store'))],
  ] as const;
  for (const name of ['nats.conf', 'nats-cluster.conf']) {
    const text = await readFile(join(dir, name), 'utf8');
    await writeFile(
      join(dir, name),
      replaced.reduce((changed, [from, to]) => changed.replace(from, to), text),
    );
  }
  const logFile = join(dir, 'nats.log');
  const server = spawn(inject('natsServer'), ['-c', join(dir, file), '-l', logFile], {
    stdio: 'ignore',
    env: {
      NATS_NAME: 'n1',
      NATS_PASSWORD: JSON.stringify(natsPassword),
      NATS_CLUSTER_PASSWORD: JSON.stringify(clusterPassword),
      NATS_ROUTES: JSON.stringify([`nats://cluster:${clusterPassword}@127.0.0.1:${clusterPort}`]),
    },
  });
  const exited = new Promise<void>((resolve) => void server.once('exit', () => resolve()));
  const log = () => readFile(logFile, 'utf8');
  await eventually(async () => (await log()).includes('Server is ready'), { timeoutMs: 10_000 });
  return {
    url: `nats://earshot:${natsPassword}@127.0.0.1:${port}`,
    port,
    clusterPort,
    log,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL');
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const holder = createServer();
  await new Promise<void>((resolve) => void holder.listen(0, '127.0.0.1', resolve));
  const address = holder.address();
  await new Promise((resolve) => void holder.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
