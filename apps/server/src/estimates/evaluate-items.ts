import type { State } from '@earshot/query';
import type { JudgeItems } from '../language/judge-items.ts';
import { Failure } from '../runtime/failure.ts';
import { planSample, type SampleRange, shuffled } from './plan-sample.ts';
import type { ItemsQuery, StoredItem, StoredItems } from './stored-items.sql.ts';

/** The result of evaluating a query on stored items. */
export interface EvaluatedItems {
  readonly evaluated: number;
  /** The number of stored items that each evaluated item stands for; 1 if all were evaluated. */
  readonly scale: number;
  /** When the earliest of them arrived; null if there is none. */
  readonly earliest: Date | null;
  /** When each matching item arrived. */
  readonly matchedAt: readonly Date[];
  readonly undecided: number;
  /** Items to show: matches, or undecided items if nothing matches. */
  readonly shown: readonly StoredItem[];
  readonly added: number;
  readonly removed: number;
  /** Items for which one of the two queries is undecided. */
  readonly incomparable: number;
}

export interface EvaluateOptions {
  readonly items: StoredItems;
  readonly judge: JudgeItems;
  readonly value: string;
  /** The query to compare with; null for none. */
  readonly formerValue: string | null;
  readonly endsAtMs: number;
  readonly random: () => number;
}

/** More items would hardly improve the answer: if one in a hundred matches, there are about forty matches. */
const rowsMax = 4_000;
const shownMax = 10;
/** The size of a batch once the size of items is known: between 2 and 400 KiB. Bounds the memory. */
const batchBytes = 256 * 1024;
const firstRanges = 4;
const batchRangesMax = 40;
/** Beyond the time that the thread was given. Longer for the first batch, because without it there is no answer. */
const threadGraceMs = { first: 5_000, later: 300 };

/**
 * Evaluates a query on the account's stored items, or on as many as there is time for, in random order. Payloads pass through this
 * thread as text.
 */
export async function evaluateItems(query: ItemsQuery, options: EvaluateOptions): Promise<EvaluatedItems> {
  const { items, random, endsAtMs } = options;
  const places = await items.places(query);
  const { ranges, fraction } = planSample(places, { rowsMax, random });
  const seen = createSeen();
  let done = 0;
  let size = firstRanges;
  while (done < ranges.length && (done === 0 || performance.now() < endsAtMs)) {
    const batch = ranges.slice(done, done + size);
    const share = await evaluateBatch(query, options, {
      batch,
      hidden: places.hidden,
      seen,
      isFirst: done === 0,
    });
    done += share.ofBatch * batch.length;
    if (share.ofBatch < 1) break;
    size = nextSize(size, share.bytes);
  }
  return seen.result(ranges.length === 0 || done === 0 ? 1 : ranges.length / done / fraction);
}

interface Batch {
  readonly batch: readonly SampleRange[];
  readonly hidden: readonly string[];
  readonly seen: ReturnType<typeof createSeen>;
  readonly isFirst: boolean;
}

/** Returns the evaluated fraction of the batch and its number of characters. */
async function evaluateBatch(
  query: ItemsQuery,
  { items, judge, value, formerValue, endsAtMs, random }: EvaluateOptions,
  { batch, hidden, seen, isFirst }: Batch,
): Promise<{ ofBatch: number; bytes: number }> {
  const read = await items.read(query, batch, hidden).catch((error: unknown) => {
    // Too slow now. The items that were evaluated before are an answer.
    if (isFirst || !(error instanceof Failure)) throw error;
    return null;
  });
  if (read === null) return { ofBatch: 0, bytes: 0 };
  if (read.length === 0) return { ofBatch: 1, bytes: 0 };
  const found = shuffled(read, random);
  const forMs = Math.max(50, endsAtMs - performance.now());
  const payloads = found.map(({ payload }) => payload);
  const values = formerValue === null ? [value] : [value, formerValue];
  const graceMs = isFirst ? threadGraceMs.first : threadGraceMs.later;
  const verdicts = await judge({ platform: query.platform, values, payloads, forMs }, forMs + graceMs);
  for (const [index, [state = 'unknown', former]] of (verdicts ?? []).entries()) {
    const item = found[index];
    if (item) seen.add(item, state, former);
  }
  const bytes = payloads.reduce((sum, payload) => sum + payload.length, 0);
  return { ofBatch: (verdicts?.length ?? 0) / found.length, bytes };
}

function nextSize(size: number, bytes: number): number {
  const wanted = bytes === 0 ? size * 4 : Math.floor((size * batchBytes) / bytes);
  return Math.max(1, Math.min(batchRangesMax, size * 4, wanted));
}

function createSeen() {
  let evaluated = 0;
  let earliest: Date | null = null;
  let undecided = 0;
  let added = 0;
  let removed = 0;
  let incomparable = 0;
  const matchedAt: Date[] = [];
  const shown: Record<'match' | 'unknown', StoredItem[]> = { match: [], unknown: [] };
  return {
    add(item: StoredItem, state: State, formerState: State | undefined) {
      evaluated += 1;
      if (earliest === null || item.createdAt < earliest) earliest = item.createdAt;
      if (state === 'match') matchedAt.push(item.createdAt);
      if (state === 'unknown') undecided += 1;
      if (state !== 'no_match' && shown[state].length < shownMax) shown[state].push(item);
      if (formerState === undefined) return;
      // If the platform matched the item, it counts as a match, whatever Earshot's evaluation says.
      const former = item.ofRule ? 'match' : formerState;
      if (state === 'unknown' || former === 'unknown') incomparable += 1;
      else if (state === 'match' && former === 'no_match') added += 1;
      else if (state === 'no_match' && former === 'match') removed += 1;
    },
    result(scale: number): EvaluatedItems {
      const toShow = shown.match.length > 0 ? shown.match : shown.unknown;
      return {
        evaluated,
        // If all items were evaluated, a rounding error must not make it a sample.
        scale: scale < 1.000_001 ? 1 : scale,
        earliest,
        matchedAt,
        undecided,
        shown: toShow.toSorted((a, b) => b.position - a.position),
        added,
        removed,
        incomparable,
      };
    },
  };
}
