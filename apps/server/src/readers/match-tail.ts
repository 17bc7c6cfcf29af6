import type { Platform } from '@earshot/contract';
import { type BellListener, type Bells, createBellListener } from '../engines/bells.ts';
import type { ParsedRules } from '../language/parsed-rules.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import type { Worker } from '../runtime/worker.ts';
import { type Batch, createKeptBatches, type Take, type Taken } from './kept-batches.ts';
import type { StoredMatch } from './match-reader.ts';
import { type FollowedMatch, jsonOf, toFollowed } from './to-match.ts';

/** Behind every wake-up that may be lost stands a look at this interval: one for the whole node. */
const lookAgainMs = 1_000;
const pageMax = 500;

/** The end of the match log, over all accounts. */
export interface TailSource {
  /** Of the last match that is visible, or of one before it. */
  lastPosition(): Promise<number>;
  after(position: number, limit: number): Promise<MatchHeader[]>;
  /** In the same order, without those whose rule is not listed. */
  load(headers: readonly MatchHeader[]): Promise<StoredMatch[]>;
}

/** A match without what is long. */
export interface MatchHeader {
  readonly position: number;
  readonly accountId: string;
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly platform: Platform;
  readonly eventKey: string;
  readonly eventDay: string;
  readonly createdAt: Date;
  readonly via: 'stream' | 'search';
}

/**
 * The newest matches that somebody on this node waits for, read once for all of them: one look at the match log per
 * wake-up, one explanation per match, however many readers there are. It keeps what they have not taken yet within
 * fixed bounds; who is further behind reads the log for itself.
 */
export interface MatchTail {
  readonly worker: Worker;
  /** Every match up to here is visible to a query that starts now. */
  position(): number;
  /** The last position of the log at this moment. */
  end(): Promise<number>;
  join(of: { accountId: string; ruleId: string | null }): TailMember;
}

export interface TailMember extends Pick<BellListener, 'wait'>, Disposable {
  /** What came after a position, with the position that this reaches; null when the tail does not go back so far. */
  after(position: number, take: Take): Taken | null;
}

export interface MatchTailOptions {
  readonly source: TailSource;
  readonly parsedRules: ParsedRules;
  readonly bells: Bells;
  /** Bounds of what is kept. */
  readonly matchesMax?: number;
  readonly charactersMax?: number;
}

/** The members that wait for the same, and since when the tail collects for them. */
interface Group {
  readonly from: number;
  readonly members: Set<{ rang(): void }>;
}

export async function openMatchTail(options: MatchTailOptions): Promise<MatchTail> {
  const { source, bells } = options;
  const groups = new Map<string, Group>();
  const kept = createKeptBatches(await source.lastPosition(), options);
  /** How far the log was read: up to here it is decided which matches the tail collects. */
  let claimed = kept.through();

  const advance = async (): Promise<boolean> => {
    if (groups.size === 0) {
      const last = await source.lastPosition();
      // Whoever came meanwhile was told that the tail collects from `claimed` on.
      if (groups.size > 0) return true;
      claimed = last;
      kept.restart(last);
      return false;
    }
    const headers = await source.after(claimed, pageMax);
    const last = headers.at(-1);
    if (!last) return false;
    // In one step: who joins from now on is told `claimed` as its beginning.
    claimed = last.position;
    const wanted = headers.filter((header) => keysOf(header).some((key) => groups.has(key)));
    try {
      const batch = await readBatch(options, wanted, last.position);
      kept.add(batch);
      await wake(groups, [...batch.byKey.keys()]);
    } catch (error) {
      kept.restart(claimed);
      await wake(groups, [...groups.keys()]);
      throw error;
    }
    return headers.length === pageMax;
  };

  return {
    worker: {
      name: 'match-tail',
      async run(signal) {
        using bell = bells.listen('matches');
        while (!signal.aborted) if (!(await advance())) await bell.wait(lookAgainMs, signal);
      },
    },
    position: () => claimed,
    end: () => source.lastPosition(),
    join({ accountId, ruleId }) {
      const key = keyOf(accountId, ruleId);
      const group: Group = groups.get(key) ?? { from: claimed, members: new Set() };
      groups.set(key, group);
      const listener = createBellListener(() => {
        group.members.delete(listener);
        if (group.members.size === 0 && groups.get(key) === group) groups.delete(key);
      });
      group.members.add(listener);
      return {
        after: (position, take) => (position < group.from ? null : kept.after(key, position, take)),
        wait: (timeoutMs, signal) => listener.wait(timeoutMs, signal),
        [Symbol.dispose]: () => listener[Symbol.dispose](),
      };
    },
  };
}

async function wake(groups: ReadonlyMap<string, Group>, keys: readonly string[]): Promise<void> {
  const yieldIfDue = createEventLoopYield();
  for (const key of keys) {
    for (const member of groups.get(key)?.members ?? []) {
      member.rang();
      await yieldIfDue();
    }
  }
}

function keyOf(accountId: string, ruleId: string | null): string {
  return ruleId === null ? accountId : `${accountId} ${ruleId}`;
}

function keysOf({ accountId, ruleId }: { accountId: string; ruleId: string }): string[] {
  return [keyOf(accountId, null), keyOf(accountId, ruleId)];
}

async function readBatch(
  { source, parsedRules }: MatchTailOptions,
  wanted: readonly MatchHeader[],
  through: number,
): Promise<Batch> {
  const stored = wanted.length === 0 ? [] : await source.load(wanted);
  const byKey = new Map<string, FollowedMatch[]>();
  const accounts = new Map(wanted.map((header) => [header.position, header.accountId]));
  let characters = 0;
  for (const followed of await toFollowed(parsedRules, stored)) {
    const accountId = accounts.get(followed.position) ?? '';
    characters += jsonOf(followed.match).length;
    for (const key of keysOf({ accountId, ruleId: followed.match.rule_id })) {
      const list = byKey.get(key);
      if (list) list.push(followed);
      else byKey.set(key, [followed]);
    }
  }
  return { through, byKey, matches: stored.length, characters };
}
