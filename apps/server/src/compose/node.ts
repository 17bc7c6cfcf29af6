import { startMetricsServer } from '../http/metrics-server.ts';
import { createMetrics } from '../observability/metrics.ts';
import { supervise } from '../runtime/supervisor.ts';
import { createApi } from './api.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { connectShared, type NodeOptions } from './shared.ts';
import { workersOf } from './workers.ts';

export interface Node extends AsyncDisposable {
  /** Null on a node without the api role. */
  readonly address: string | null;
  readonly metricsPort: number;
  /** Refuse new requests; what is under way goes on until the node is disposed of. */
  drain(): void;
}

/** Starts the health port, engines' clients, then workers, then the API; stops them in the reverse order. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { config } = options;
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics();
  let isReady: Readiness = async () => ['starting'];
  const { metricsHost: host, metricsPort: port } = config;
  const metricsServer = stack.use(
    await startMetricsServer({ host, port, metrics, isReady: () => isReady() }),
  );
  const onWaiting = (engine: string) => {
    isReady = async () => [`waiting for ${engine}`];
  };
  const shared = await connectShared({ ...options, metrics, onWaiting }, stack);
  isReady = await createReadiness(shared);
  const workers = await workersOf(shared, stack, config.roles);
  stack.use(supervise(workers, shared));
  const api = config.roles.includes('api') ? stack.use(await createApi(shared, stack, isReady)) : null;
  const address = (await api?.listen(config.host, config.port)) ?? null;
  const running = stack.move();
  return {
    address,
    metricsPort: metricsServer.port,
    drain: () => api?.drain(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
