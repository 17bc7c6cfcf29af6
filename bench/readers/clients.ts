import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { percentile } from '../pipeline/latency.ts';
import { root } from '../start-engines.ts';
import type { NodeUnderTest } from './node-under-test.ts';

export interface Clients {
  received(): number;
  /** Average bytes of one event. */
  bytes(): number;
  /** For events received since the last call. */
  latencies(): { p50: number; p99: number; worst: number };
}

export type ClientReport =
  | { readonly kind: 'open' }
  | { readonly kind: 'counts'; readonly latencies: readonly number[]; readonly bytes: number };

export interface ClientsOptions {
  readonly streams: number;
  readonly stalled: number;
  /** Whether each stream follows one rule or the whole account. */
  readonly follow: 'rule' | 'account';
}

/** The streams are in a separate thread, so that writing does not delay the readers' clock. */
export async function startClients(
  { node, ...options }: ClientsOptions & { node: Pick<NodeUnderTest, 'url' | 'key'> },
  stack: AsyncDisposableStack,
): Promise<Clients> {
  const worker = new Worker(join(root, 'bench/readers/client-thread.ts'), {
    workerData: { url: node.url, key: node.key, ...options },
  });
  stack.defer(async () => void (await worker.terminate()));
  let received = 0;
  let bytes = 0;
  let latencies: number[] = [];
  const allOpen = Promise.withResolvers<void>();
  worker.once('error', (error) => allOpen.reject(error));
  worker.on('message', (report: ClientReport) => {
    if (report.kind === 'open') {
      allOpen.resolve();
      return;
    }
    received += report.latencies.length;
    bytes += report.bytes;
    latencies.push(...report.latencies);
  });
  await allOpen.promise;
  return {
    received: () => received,
    bytes: () => Math.round(bytes / received),
    latencies() {
      const sorted = latencies.toSorted((a, b) => a - b);
      latencies = [];
      return {
        p50: percentile(sorted, 0.5),
        p99: percentile(sorted, 0.99),
        worst: sorted.at(-1) ?? Number.NaN,
      };
    },
  };
}
