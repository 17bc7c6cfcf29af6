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
 * One job for the whole gap; after a crash it is requested again. Backfill, which X offers for gaps below five minutes,
 * is not used: nothing tells when it has ended, and a recovery job does.
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
