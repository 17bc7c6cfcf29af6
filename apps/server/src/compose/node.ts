import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import serverPackage from '../../package.json' with { type: 'json' };
import { newestMigration } from '../engines/migrate.ts';
import { startMetricsServer } from '../http/metrics-server.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import { supervise } from '../runtime/supervisor.ts';
import { createApi } from './api.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { connectShared, isOutage, type NodeOptions } from './shared.ts';
import { workersOf } from './workers.ts';

const { version } = serverPackage;

export interface Node extends AsyncDisposable {
  /** Its lines contain the name under which the node holds leases. */
  readonly log: Logger;
  /** Null on a node without the api role. */
  readonly address: string | null;
  readonly metricsPort: number;
  /** Refuses new requests. Requests in progress continue until the node is disposed. */
  drain(): void;
}

/** Starts the health port, the clients of PostgreSQL and NATS, the workers and the API; stops them in reverse order. */
export async function startNode({ log: plainLog, ...options }: NodeOptions): Promise<Node> {
  const { config } = options;
  await using stack = new AsyncDisposableStack();
  const node = `${hostname()}-${randomBytes(4).toString('hex')}`;
  const log = plainLog.child({ node });
  const metrics = createMetrics();
  metrics.buildInfo.set({ version, schema: await newestMigration() }, 1);
  let isReady: Readiness = async () => ['starting'];
  const { metricsHost: host, metricsPort: port } = config;
  const metricsServer = stack.use(
    await startMetricsServer({ host, port, metrics, isReady: () => isReady() }),
  );
  const onWaiting = (service: string) => {
    isReady = async () => [`waiting for ${service}`];
  };
  const shared = await connectShared({ ...options, node, version, log, metrics, onWaiting }, stack);
  isReady = await createReadiness(shared);
  const workers = await workersOf(shared, stack, config.roles);
  stack.use(supervise(workers, { ...shared, isOutage }));
  const api = config.roles.includes('api') ? stack.use(await createApi(shared, stack, isReady)) : null;
  const address = (await api?.listen(config.host, config.port)) ?? null;
  const running = stack.move();
  return {
    log,
    address,
    metricsPort: metricsServer.port,
    drain() {
      isReady = async () => ['shutting down'];
      api?.drain();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
