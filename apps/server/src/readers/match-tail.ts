import { type Bells, createBellListener } from '../engines/bells.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import { createKeptBatches, type TailBatch, type Take } from './kept-batches.ts';
import type { StoredMatch } from './match-reader.sql.ts';
import type { MatchHeader, TailReader } from './tail-reader.sql.ts';
import { jsonOf, type LogEntry, toEntries, toRemovalEntry } from './to-match.ts';

/** Wake-ups may be lost, so the log is also read at this interval: once for the whole node. */
const pollIntervalMs = 1_000;
const pageMax = 500;
/** A client that polls is absent between its requests. What arrives in between is collected as if it waited. */
const awayMsMax = 3_000;
/** If positions jump by less, the log has not begun a new incarnation (migrations/0006_matches.sql). */
const jumpMin = 2 ** 20;

export interface MatchTailOptions {
  readonly reader: TailReader;
  readonly parsedRules: ParsedRules;
  readonly bells: Bells;
  readonly telemetry: Pick<Telemetry, 'matchLogRestored' | 'matchFollowed'>;
  /** Limits of what is kept in memory. */
  readonly matchesMax?: number;
  readonly charactersMax?: number;
  /** For tests. */
  readonly nowMs?: () => number;
}

/** The readers that wait for the same matches, and the position from which the tail collects for them. */
interface Group {
  readonly from: number;
  readonly members: Set<{ rang(): void }>;
  /** Since when the group is empty; null if it is not. */
  leftAt: number | null;
}

/** A match that readers wait for, with the keys of their groups. */
interface WantedMatch {
  readonly header: MatchHeader;
  readonly keys: readonly string[];
}

export type MatchTail = Awaited<ReturnType<typeof openMatchTail>>;

/**
 * The newest matches that readers on this node wait for, read once for all of them: one read of the match log per wake-up and one
 * explanation per match, however many readers there are. With a query per reader, 10,000 readers would query the database 10,000 times
 * for each commit. Matches that readers have not taken yet are kept within fixed limits. A reader that is further behind reads the log.
 */
export async function openMatchTail(options: MatchTailOptions) {
  const { reader, bells, telemetry, nowMs = () => performance.now() } = options;
  const groups = new Map<string, Group>();
  /** Keys of groups that may be empty. */
  const left = new Set<string>();
  const kept = createKeptBatches((await reader.lastPosition()) ?? 0, options);
  /** The position up to which the log was read: for earlier matches it is decided whether the tail collects them. */
  let readThrough = kept.through();
  const lost = createLostPositions(options);

  const advance = async (): Promise<boolean> => {
    if (forgetAway(groups, left, nowMs()) === 0) {
      const last = await reader.lastPosition();
      if (last === null) return false;
      // A reader that joined in the meantime relies on the tail collecting from `readThrough` on.
      if (groups.size > 0) return true;
      await lost.notice(readThrough, last);
      readThrough = last;
      kept.restart(last);
      return false;
    }
    const headers = await reader.after(readThrough, pageMax);
    const last = headers.at(-1);
    if (!last) return false;
    const first = headers[0]?.position ?? readThrough;
    // A follower that was notified continues before what was lost, and must not get that from here.
    if (await lost.notice(readThrough, first)) kept.restart(first - 1);
    kept.remove(new Set(headers.flatMap(({ removed }) => removed?.matchPosition ?? [])));
    // Without an await in between, so that a reader that joins from now on starts at the new `readThrough`.
    readThrough = last.position;
    const wanted = wantedOf(groups, headers);
    try {
      for await (const batch of readBatches(options, wanted, last.position)) {
        kept.add(batch);
        await wake(groups, batch.byKey.keys());
      }
      for (const { header } of wanted) telemetry.matchFollowed(Date.now() - header.createdAt.getTime());
    } catch (error) {
      kept.restart(readThrough);
      await wake(groups, [...groups.keys()]);
      throw error;
    }
    return headers.length === pageMax;
  };

  return {
    worker: {
      name: 'match-tail',
      async run(signal: AbortSignal): Promise<void> {
        using bell = bells.listen('matches');
        while (!signal.aborted) if (!(await advance())) await bell.wait(pollIntervalMs, signal);
      },
    },
    /** Every match up to here is visible to a query that starts now. */
    position: () => readThrough,
    isLost: lost.has,
    restoredBetween: lost.between,
    /** The last position of the log now; on a standby, the last one that the tail has read. */
    end: async () => (await reader.lastPosition()) ?? readThrough,
    join({ accountId, ruleId }: { accountId: string; ruleId: string | null }) {
      const key = keyOf(accountId, ruleId);
      const { group, listener } = joinGroup(groups, key, { from: readThrough, left, nowMs });
      return {
        ...listener,
        /** What follows a position, and the position that it reaches; null if the tail does not reach back so far. */
        after: (position: number, take: Take) =>
          position < group.from ? null : kept.after(key, position, take),
      };
    },
  };
}

/** Positions that readers of this node got before the log went back: PostgreSQL was restored, or a standby was behind. */
function createLostPositions({ reader, telemetry }: Pick<MatchTailOptions, 'reader' | 'telemetry'>) {
  let lost = { after: 0, through: 0 };
  /** The position to which the log went back between two successive reads; null if it did not. */
  const between = async (read: number, next: number): Promise<number | null> => {
    if (next >= read && next - read <= jumpMin) return null;
    return next < read ? next : await reader.restoredTo(read);
  };
  return {
    between,
    /** Whether the position was returned to readers and is lost since the log went back. */
    has: (position: number) => position > lost.after && position <= lost.through,
    /** Returns whether the log went back between the two positions. */
    async notice(read: number, next: number): Promise<boolean> {
      const to = await between(read, next);
      if (to === null) return false;
      lost = { after: to, through: Math.max(read, next - 1) };
      telemetry.matchLogRestored({ from: read, to });
      return true;
    },
  };
}

function joinGroup(
  groups: Map<string, Group>,
  key: string,
  { from, left, nowMs }: { from: number; left: Set<string>; nowMs: () => number },
) {
  const group: Group = groups.get(key) ?? { from, members: new Set(), leftAt: null };
  groups.set(key, group);
  const listener = createBellListener(() => {
    group.members.delete(listener);
    if (group.members.size > 0) return;
    group.leftAt = nowMs();
    left.add(key);
  });
  group.members.add(listener);
  group.leftAt = null;
  return { group, listener };
}

/** Drops groups to which no reader has returned. Returns how many groups are left. */
function forgetAway(groups: Map<string, Group>, left: Set<string>, nowMs: number): number {
  for (const key of left) {
    const leftAt = groups.get(key)?.leftAt ?? null;
    if (leftAt !== null && nowMs - leftAt <= awayMsMax) continue;
    left.delete(key);
    if (leftAt !== null) groups.delete(key);
  }
  return groups.size;
}

async function wake(groups: ReadonlyMap<string, Group>, keys: Iterable<string>): Promise<void> {
  const yieldIfDue = createEventLoopYield();
  for (const key of keys) {
    for (const member of groups.get(key)?.members ?? []) {
      member.rang();
      const turn = yieldIfDue();
      if (turn) await turn;
    }
  }
}

function keyOf(accountId: string, ruleId: string | null): string {
  return ruleId === null ? accountId : `${accountId} ${ruleId}`;
}

function keysOf({ accountId, ruleId }: { accountId: string; ruleId: string }): string[] {
  return [keyOf(accountId, null), keyOf(accountId, ruleId)];
}

function wantedOf(groups: ReadonlyMap<string, Group>, headers: readonly MatchHeader[]): WantedMatch[] {
  return headers
    .map((header) => ({ header, keys: keysOf(header).filter((key) => groups.has(key)) }))
    .filter(({ keys }) => keys.length > 0);
}

/** Usually one batch; several if the payloads are large. */
async function* readBatches(
  { reader, parsedRules }: MatchTailOptions,
  wanted: readonly WantedMatch[],
  through: number,
): AsyncGenerator<TailBatch> {
  let left = wanted;
  while (left.length > 0) {
    const { matches, taken } = await reader.load(left.map(({ header }) => header));
    const reached = taken === left.length ? through : (left[taken - 1]?.header.position ?? through);
    yield await toBatch(parsedRules, { stored: matches, wanted: left.slice(0, taken), through: reached });
    left = left.slice(taken);
  }
  if (wanted.length === 0) yield { through, byKey: new Map(), matches: 0, characters: 0 };
}

async function toBatch(
  parsedRules: ParsedRules,
  {
    stored,
    wanted,
    through,
  }: { stored: readonly StoredMatch[]; wanted: readonly WantedMatch[]; through: number },
): Promise<TailBatch> {
  const byKey = new Map<string, LogEntry[]>();
  // Not in slices like work for callers: on a busy node this would fall behind matching.
  const followed = await toEntries(parsedRules, stored, createEventLoopYield());
  const matches = new Map(followed.map((one) => [one.position, one]));
  let count = 0;
  let characters = 0;
  for (const { header, keys } of wanted) {
    const { position, platform, createdAt: at, removed } = header;
    const one = removed ? toRemovalEntry({ position, platform, at, ...removed }) : matches.get(position);
    if (!one) continue;
    count += 1;
    characters += 'match' in one ? jsonOf(one).length : 0;
    for (const key of keys) {
      const list = byKey.get(key);
      if (list) list.push(one);
      else byKey.set(key, [one]);
    }
  }
  return { through, byKey, matches: count, characters };
}
