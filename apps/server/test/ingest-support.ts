import type { Platform } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import { createLeaseStore } from '../src/engines/leases.ts';
import { createAppendWatch } from '../src/event-log/append-watch.ts';
import type { EventLog, LogEvent } from '../src/event-log/event-log.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { createIngestWorker, type IngestOptions } from '../src/ingest/ingest-worker.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import type { UpstreamClient } from '../src/upstream/client.ts';
import { firehoseProtocol } from '../src/upstream/firehose/platform.ts';
import { xProtocol } from '../src/upstream/x/platform.ts';
import { silentLog } from './support.ts';
import { rulesOf, runWorker, streamOf, type UpstreamWorld } from './upstream-world.ts';

export const soon = { timeoutMs: 30_000 };
const never = new AbortController().signal;

export interface MemoryLog extends EventLog {
  readonly entries: Array<{ event: LogEvent; consumed: string | null }>;
}

/** The event log's contract in memory. If `before` throws, the log has not stored the event. */
export function createMemoryLog(before: (event: LogEvent) => Promise<void> | null = () => null): MemoryLog {
  const entries: MemoryLog['entries'] = [];
  return {
    entries,
    async append(event, consumed) {
      await before(event);
      entries.push({ event, consumed });
    },
    // Only what is in the log counts, as after a crash.
    consumedBy: async () => {
      const position = entries.at(-1)?.consumed;
      return position ? { position, at: new Date() } : null;
    },
    recordConsumed: () => undefined,
    probe: async () => undefined,
    mark: async () => undefined,
  };
}

export function startIngest(
  world: Pick<UpstreamWorld, 'database' | 'bells'> & { client(platform: Platform): UpstreamClient },
  platform: Platform,
  eventLog: EventLog,
  more: Partial<IngestOptions> = {},
) {
  const metrics = createMetrics();
  const worker = createIngestWorker({
    sourceId: `${platform}:main`,
    platform,
    protocol: platform === 'x' ? xProtocol : firehoseProtocol,
    upstream: streamOf(platform, world.client(platform)),
    endStaleConnections: null,
    sources: createSourceStore(world.database),
    eventLog,
    appendWatch: createAppendWatch(),
    intervals: createCoverageIntervals(world.database),
    bells: world.bells,
    leases: createLeaseStore(world.database),
    node: 'node-1',
    leaseTtlMs: 5_000,
    nowMs: Date.now,
    // The shortest wait that the jitter allows.
    random: () => 0,
    telemetry: createTelemetry(silentLog, metrics),
    log: silentLog,
    ...more,
  });
  return {
    ...runWorker(worker),
    metrics,
    async endings(): Promise<string[]> {
      return (await metrics.streamEndings.get()).values.map(({ labels }) => String(labels.kind));
    },
  };
}

export async function addRule(world: UpstreamWorld, platform: Platform): Promise<void> {
  await rulesOf(platform, world.client(platform)).add([{ value: 'rocket', tag: 'test' }], {
    signal: never,
    permit: () => Promise.resolve(),
  });
}

export const open = (world: UpstreamWorld, platform: Platform) =>
  eventually(async () => {
    expect(await (platform === 'x' ? world.sandbox.xStreams() : world.sandbox.tapStreams())).toBe(1);
  }, soon);

export function coverage({ database }: UpstreamWorld) {
  return database.many<{ ended_because: string | null }>('select ended_because from coverage order by id');
}
