import type { Platform } from '@earshot/contract';
import type { Lease } from '../engines/leases.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Item } from '../upstream/item.ts';
import type { Recovery } from '../upstream/platform.ts';
import { dropItem, readItem } from '../upstream/read-item.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import { StreamEnded } from '../upstream/upstream-stream.ts';
import { deliveryDelayMs } from './repair-gap.ts';
import type { Gap, RepairStore } from './repair-store.sql.ts';

const appendedTogether = 100;

export interface RecoverGapOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly recovery: Pick<Recovery, 'records'>;
  readonly store: Pick<RepairStore, 'settleWhole'>;
  readonly eventLog: Pick<EventLog, 'append'>;
  readonly telemetry: Telemetry;
}

export function isRecoverable(gap: Gap, { reachesBackMs }: Recovery, nowMs: number): boolean {
  return nowMs - gap.from.getTime() < reachesBackMs;
}

/**
 * Requests one recovery job for the whole gap, and again after a crash. X's backfill for gaps below 5 minutes is not
 * used, because it does not report when it has ended.
 */
export async function recoverGap(
  { sourceId, platform, recovery, store, eventLog, telemetry }: RecoverGapOptions,
  { gap, lease }: { gap: Gap; lease: Lease },
  signal: AbortSignal,
): Promise<boolean> {
  const source = { platform, sourceId, telemetry };
  const from = new Date(gap.from.getTime() - deliveryDelayMs);
  let read: Item[] = [];
  const append = async () => {
    await Promise.all(read.map((item) => eventLog.append(item, null, signal)));
    read = [];
  };
  try {
    for await (const text of recovery.records(from, gap.to, signal)) {
      const item =
        text === null ? dropItem(source, 'too_large') : readItem(source, { text, upstreamId: null });
      if (item) read.push(item);
      if (read.length >= appendedTogether) await append();
    }
    await append();
  } catch (error) {
    if (!(error instanceof StreamEnded)) throw error;
    throw new UpstreamUnavailable('the recovery broke off', { cause: error });
  }
  await store.settleWhole(lease, gap, { repair: 'repaired', via: 'recovery', because: null });
  telemetry.gapRepaired({ sourceId, from: gap.from, to: gap.to, via: 'recovery' });
  return true;
}
