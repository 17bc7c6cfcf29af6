import { join, resolve } from 'node:path';
import { freePorts } from './free-port.ts';
import type { NatsPorts, NatsSettings } from './nats-node.ts';
import { startNode } from './nats-node.ts';
import type { Lifetime } from './process.ts';

export type { NatsNode, NatsPorts, NatsSettings } from './nats-node.ts';

export type Nats = Awaited<ReturnType<typeof startOnce>>;

interface NatsOptions {
  /** The program: see `findNatsServer`. */
  server: string;
  /** Holds stores, configuration and logs, one folder per node; existing stores are reused. */
  dir: string;
  nodes: 1 | 3;
  ports?: readonly NatsPorts[] | undefined;
  lifetime?: Lifetime;
  settings?: NatsSettings;
  /** Letters and digits. The servers then know the users of deploy/nats-users.conf, and `url` holds the login. */
  password?: string | undefined;
  log?: (progress: string) => void;
}

const attempts = 3;

/** Private nats-servers on loopback with production's durable settings. Returns when JetStream accepts requests. */
export async function startNats(options: NatsOptions): Promise<Nats> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options, options.ports ?? (await choosePorts(options.nodes)));
    } catch (error) {
      // Another program may have taken one of the ports.
      if (options.ports !== undefined || attempt === attempts) throw error;
    }
  }
}

async function choosePorts(nodes: number): Promise<NatsPorts[]> {
  const free = await freePorts(nodes * 3);
  return Array.from({ length: nodes }, (_, index) => {
    const [client = 0, monitor = 0, cluster = 0] = free.slice(index * 3);
    return { client, monitor, cluster };
  });
}

async function startOnce(options: NatsOptions, ports: readonly NatsPorts[]) {
  if (ports.length !== options.nodes) throw new Error(`${options.nodes} nodes need as many sets of ports`);
  if (options.nodes > 1) options.log?.(`Starting ${options.nodes} nats-servers and waiting for their leader`);
  const started: Awaited<ReturnType<typeof startNode>>[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ node }) => node.kill('SIGTERM')));
  };
  try {
    for (const [index, nodePorts] of ports.entries()) {
      const name = `n${index + 1}`;
      started.push(
        await startNode({
          server: options.server,
          dir: join(resolve(options.dir), name),
          name,
          ports: nodePorts,
          routes: options.nodes === 1 ? [] : ports.map(({ cluster }) => cluster),
          lifetime: options.lifetime ?? 'parent',
          settings: options.settings ?? {},
          password: options.password,
        }),
      );
    }
    await Promise.all(started.map(({ ready }) => ready('all')));
  } catch (error) {
    await stop();
    throw error;
  }
  const nodes = started.map(({ node }) => node);
  return {
    /** The addresses of all nodes, separated by commas. */
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    /** Pass it to a later start to keep the addresses. */
    ports,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
