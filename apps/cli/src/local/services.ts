import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { findNatsServer, isRunning, startNats, startPostgres, stopPid } from '@earshot/engines';
import type { Context } from '../command.ts';
import { Failure } from '../failure.ts';
import type { ServerRecord, ServicesState } from './services-state.ts';
import { readState, writeState } from './services-state.ts';

const root = resolve(import.meta.dirname, '../../../..');

interface Place {
  readonly dir: string | undefined;
}

const folder = ({ dir }: Place): string => resolve(dir ?? join(root, '.earshot/services'));

export async function up(
  options: Place & { readonly cluster: boolean },
  { env, isJson, screen, self }: Context,
): Promise<number> {
  const dir = folder(options);
  const natsNodes = options.cluster ? 3 : 1;
  const state = await readState(dir);
  const running = await runningServers(state);
  if (running.length > 0 && running.length === state?.servers.length) {
    if (state.natsPorts.length !== natsNodes) {
      const nodes = state.natsPorts.length === 1 ? 'one NATS node' : 'three NATS nodes';
      throw new Failure(
        'failed',
        `The services already run with ${nodes}. Stop them first: ${self} services down`,
      );
    }
    screen.note('The services already run.');
    screen.print(urls(state, isJson));
    return 0;
  }
  // If only some servers run, all are restarted.
  await stopAll(running);
  const log = (progress: string) => screen.note(`${progress} …`);
  const server = await findNatsServer({
    cacheDir: join(root, '.earshot/cache'),
    configured: env['EARSHOT_NATS_SERVER'],
    log,
  });
  const started = await startAll({ dir, natsNodes, server, log }, state);
  await writeState(dir, started);
  screen.print(urls(started, isJson));
  return 0;
}

interface Start {
  readonly dir: string;
  readonly natsNodes: 1 | 3;
  readonly server: string;
  readonly log: (progress: string) => void;
}

async function startAll(
  { dir, natsNodes, server, log }: Start,
  last: ServicesState | undefined,
): Promise<ServicesState> {
  const common = { lifetime: 'detached', log } as const;
  const postgres = await startPostgres({ dir: join(dir, 'postgres'), port: last?.postgresPort, ...common });
  try {
    const nats = await startNats({
      server,
      dir: join(dir, natsNodes === 1 ? 'nats' : 'nats-cluster'),
      nodes: natsNodes,
      ports: last?.natsPorts.length === natsNodes ? last.natsPorts : undefined,
      // Reused, so that the address stays the same.
      password: last === undefined ? randomBytes(24).toString('hex') : passwordIn(last.natsUrl),
      ...common,
    });
    return {
      databaseUrl: postgres.urls.runtime,
      accountDatabaseUrl: postgres.urls.account,
      migrationDatabaseUrl: postgres.urls.owner,
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

export async function down(options: Place, { isJson, screen }: Context): Promise<void> {
  const dir = folder(options);
  const state = await readState(dir);
  const running = await runningServers(state);
  await stopAll(running);
  // The ports are kept, so that the addresses are the same after the next start.
  if (state !== undefined) await writeState(dir, { ...state, servers: [] });
  const stopped = running.map(({ name }) => name);
  if (isJson) screen.print(JSON.stringify({ stopped }));
  else screen.note(stopped.length === 0 ? 'No services run.' : `Stopped ${stopped.join(', ')}.`);
}

export async function status(options: Place, { isJson, screen, self }: Context): Promise<void> {
  const state = await readState(folder(options));
  const running = await runningServers(state);
  const servers = (state?.servers ?? []).map(({ name, pid }) => ({
    name,
    pid,
    running: running.some((server) => server.pid === pid),
  }));
  const isUp = servers.length > 0 && servers.every((server) => server.running);
  if (isJson) {
    const addresses = isUp && state !== undefined ? addressesOf(state) : {};
    screen.print(JSON.stringify({ running: isUp, ...addresses, servers }));
    return;
  }
  for (const server of servers) {
    screen.print(`${server.name.padEnd(8)}  ${server.running ? `runs, pid ${server.pid}` : 'is down'}`);
  }
  if (isUp && state !== undefined) screen.print(urls(state, false));
  else screen.print(`Start the services: ${self} services up`);
}

async function runningServers(state: ServicesState | undefined): Promise<ServerRecord[]> {
  const servers = state?.servers ?? [];
  const isUp = await Promise.all(servers.map(({ pid, inCommandLine }) => isRunning(pid, inCommandLine)));
  return servers.filter((_, index) => isUp[index]);
}

async function stopAll(servers: readonly ServerRecord[]): Promise<void> {
  await Promise.all(servers.map(({ pid, inCommandLine }) => stopPid(pid, inCommandLine)));
}

function passwordIn(natsUrl: string): string {
  const [first = natsUrl] = natsUrl.split(',');
  return new URL(first).password;
}

function addressesOf(state: ServicesState) {
  const { databaseUrl, accountDatabaseUrl, migrationDatabaseUrl, natsUrl } = state;
  return { databaseUrl, accountDatabaseUrl, migrationDatabaseUrl, natsUrl };
}

/** Settings for the server, one per line. */
function urls(state: ServicesState, isJson: boolean): string {
  if (isJson) return JSON.stringify(addressesOf(state));
  return [
    `EARSHOT_DATABASE_URL=${state.databaseUrl}`,
    `EARSHOT_ACCOUNT_DATABASE_URL=${state.accountDatabaseUrl}`,
    `EARSHOT_MIGRATION_DATABASE_URL=${state.migrationDatabaseUrl}`,
    `EARSHOT_NATS_URL=${state.natsUrl}`,
  ].join('\n');
}
