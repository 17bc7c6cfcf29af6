import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findNatsServer, isRunning, startNats, startPostgres, stopPid } from '@earshot/engines';
import type { Command } from '../command.ts';
import type { ServerRecord, ServicesState } from './services-state.ts';
import { readState, writeState } from './services-state.ts';

const root = resolve(import.meta.dirname, '../../../..');

const usage = `Usage: earshot services up [--cluster] | down | status [--json]

Private PostgreSQL and NATS servers for development, on loopback, under .earshot/services.

  up         start them, or say where they run
  down       stop them; their data stays
  status     say what runs

  --cluster  three NATS nodes instead of one
  --json     status as one line of JSON
  --dir      another folder for their data`;

export const services: Command = {
  name: 'services',
  summary: 'start and stop private PostgreSQL and NATS servers',
  usage,
  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { cluster: { type: 'boolean' }, json: { type: 'boolean' }, dir: { type: 'string' } },
    });
    const dir = resolve(values.dir ?? join(root, '.earshot/services'));
    switch (positionals.join(' ')) {
      case 'up':
        return up(dir, values.cluster === true ? 3 : 1);
      case 'down':
        return down(dir);
      case 'status':
        return status(dir, values.json === true);
      default:
        console.error(usage);
        return 2;
    }
  },
};

async function up(dir: string, natsNodes: 1 | 3): Promise<number> {
  const state = await readState(dir);
  const running = await runningServers(state);
  if (running.length > 0 && running.length === state?.servers.length) {
    if (state.natsPorts.length !== natsNodes) {
      const nodes = state.natsPorts.length === 1 ? 'one NATS node' : 'three NATS nodes';
      console.error(`The services already run with ${nodes}. Stop them first: pnpm services down`);
      return 1;
    }
    console.error('The services already run.');
    printUrls(state);
    return 0;
  }
  // What is left of a set that lost a member starts again with it.
  await stopAll(running);
  const started = await startAll(dir, natsNodes, state);
  await writeState(dir, started);
  printUrls(started);
  return 0;
}

async function startAll(
  dir: string,
  natsNodes: 1 | 3,
  last: ServicesState | undefined,
): Promise<ServicesState> {
  const server = await findNatsServer({
    cacheDir: join(root, '.earshot/cache'),
    configured: process.env['EARSHOT_NATS_SERVER'],
    log,
  });
  const common = { lifetime: 'detached', log } as const;
  const postgres = await startPostgres({ dir: join(dir, 'postgres'), port: last?.postgresPort, ...common });
  try {
    const nats = await startNats({
      server,
      dir: join(dir, natsNodes === 1 ? 'nats' : 'nats-cluster'),
      nodes: natsNodes,
      ports: last?.natsPorts.length === natsNodes ? last.natsPorts : undefined,
      ...common,
    });
    return {
      databaseUrl: postgres.url,
      natsUrl: nats.url,
      postgresPort: postgres.port,
      natsPorts: nats.ports,
      servers: [
        { name: 'postgres', pid: postgres.pid, inCommandLine: postgres.dataDir },
        ...nats.nodes.map(({ name, pid, configFile }) => ({
          name: `nats ${name}`,
          pid,
          inCommandLine: configFile,
        })),
      ],
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

function log(progress: string): void {
  console.error(`${progress} …`);
}

async function down(dir: string): Promise<number> {
  const state = await readState(dir);
  const running = await runningServers(state);
  await stopAll(running);
  // The ports stay known, so that the addresses are the same after the next start.
  if (state !== undefined) await writeState(dir, { ...state, servers: [] });
  console.error(
    running.length === 0 ? 'No services run.' : `Stopped ${running.map(({ name }) => name).join(', ')}.`,
  );
  return 0;
}

async function status(dir: string, isJson: boolean): Promise<number> {
  const state = await readState(dir);
  const running = await runningServers(state);
  const servers = (state?.servers ?? []).map(({ name, pid }) => ({
    name,
    pid,
    running: running.some((server) => server.pid === pid),
  }));
  const isUp = servers.length > 0 && servers.every((server) => server.running);
  if (isJson) {
    const urls = isUp ? { databaseUrl: state?.databaseUrl, natsUrl: state?.natsUrl } : {};
    console.log(JSON.stringify({ running: isUp, ...urls, servers }));
    return 0;
  }
  for (const server of servers) {
    console.log(`${server.name.padEnd(8)}  ${server.running ? `runs, pid ${server.pid}` : 'is down'}`);
  }
  if (isUp && state !== undefined) printUrls(state);
  else console.log('Start the services: pnpm services up');
  return 0;
}

async function runningServers(state: ServicesState | undefined): Promise<ServerRecord[]> {
  const servers = state?.servers ?? [];
  const isUp = await Promise.all(servers.map(({ pid, inCommandLine }) => isRunning(pid, inCommandLine)));
  return servers.filter((_, index) => isUp[index]);
}

async function stopAll(servers: readonly ServerRecord[]): Promise<void> {
  await Promise.all(servers.map(({ pid, inCommandLine }) => stopPid(pid, inCommandLine)));
}

function printUrls(state: ServicesState): void {
  console.log(`EARSHOT_DATABASE_URL=${state.databaseUrl}\nEARSHOT_NATS_URL=${state.natsUrl}`);
}
