import { type Bells, createBellListener } from '../engines/bells.ts';
import type { NoticeReader, PlacedNotice } from '../notices/notice-reader.sql.ts';
import type { Worker } from '../runtime/worker.ts';

/** Wake-ups may be lost, so the ends of the logs are also read at this interval: once for the whole node. */
const pollIntervalMs = 1_000;

export interface NoticeFollower extends Disposable {
  /** Returns the next notices in the order of the log. */
  take(limit: number): Promise<PlacedNotice[]>;
  /** Registers a callback for when there may be more to take. */
  readonly onMore: (wake: () => void) => void;
  /** Like `take`, but waits for the first one. Empty after `waitMs`, or if the signal is aborted. */
  next(options: { limit: number; waitMs: number; signal: AbortSignal }): Promise<PlacedNotice[]>;
}

type Listener = ReturnType<typeof createBellListener>;

/** The followers of one account, and the last known end of its log. */
interface Group {
  readonly members: Set<Listener>;
  last: number | undefined;
}

export type NoticeFollowing = ReturnType<typeof createNoticeFollowing>;

/** The common part of lists that wait, streams and named readers. A node queries once for all of them whether there is something new. */
export function createNoticeFollowing({
  reader,
  bells,
}: {
  readonly reader: NoticeReader;
  readonly bells: Bells;
}) {
  const groups = new Map<string, Group>();
  const wakeFollowers = async () => {
    if (groups.size === 0) return;
    const ends = await reader.lastPositions([...groups.keys()]);
    for (const [accountId, group] of groups) {
      const last = ends.get(accountId) ?? 0;
      if (last === group.last) continue;
      group.last = last;
      for (const member of group.members) member.rang();
    }
  };
  const worker: Worker = {
    name: 'notice-tail',
    async run(signal) {
      using bell = bells.listen('notices');
      while (!signal.aborted) {
        await wakeFollowers();
        await bell.wait(pollIntervalMs, signal);
      }
    },
  };
  return {
    worker,
    /** Starts after this position. */
    follow(accountId: string, position: number, { open = false } = {}): NoticeFollower {
      const listener = join(groups, accountId);
      let from = position;
      const take = async (limit: number) => {
        const found = await reader.read({ accountId, open, order: 'oldest', from, limit });
        from = found.at(-1)?.position ?? from;
        return found;
      };
      return {
        take,
        onMore: listener.onRing,
        async next({ limit, waitMs, signal }) {
          const deadline = performance.now() + waitMs;
          for (;;) {
            const found = await take(limit);
            const leftMs = deadline - performance.now();
            if (found.length > 0 || leftMs <= 0 || signal.aborted) return found;
            await listener.wait(leftMs, signal);
          }
        },
        [Symbol.dispose]: () => listener[Symbol.dispose](),
      };
    },
  };
}

function join(groups: Map<string, Group>, accountId: string): Listener {
  const group: Group = groups.get(accountId) ?? { members: new Set(), last: undefined };
  groups.set(accountId, group);
  const listener = createBellListener(() => {
    group.members.delete(listener);
    if (group.members.size === 0 && groups.get(accountId) === group) groups.delete(accountId);
  });
  group.members.add(listener);
  return listener;
}
