import { removalsMax } from './match-reader.sql.ts';
import { jsonOf, type LogEntry } from './to-match.ts';

/** A result ends before it exceeds this, however many matches were requested; it has at least one. */
const takenCharactersMax = 1024 * 1024;

/** The result of one read of the log, by the key of the readers that wait for it. */
export interface TailBatch {
  /** The last position that was read. */
  readonly through: number;
  /** Owned by the keeper afterwards. */
  readonly byKey: Map<string, LogEntry[]>;
  /** Includes the removals. */
  readonly matches: number;
  readonly characters: number;
}

export interface Take {
  readonly limit: number;
  readonly accepts: (one: LogEntry) => boolean;
}

interface TakeResult {
  readonly entries: readonly LogEntry[];
  /** Everything up to this position was read. */
  readonly through: number;
  /** No more fits into this answer. */
  readonly isFull: boolean;
}

const nothing: readonly LogEntry[] = [];

/** The batches that were read lately, oldest first. The oldest are dropped when the limits are exceeded. */
export function createKeptBatches(
  start: number,
  { matchesMax = 20_000, charactersMax = 64e6 }: { matchesMax?: number; charactersMax?: number },
) {
  let batches: TailBatch[] = [];
  /** All entries of a key over all batches, in the order of the log: most readers return after many batches for other keys. */
  const lists = new Map<string, LogEntry[]>();
  /** The position at which the oldest batch begins. */
  let from = start;
  const total = { matches: 0, characters: 0 };
  const count = (batch: TailBatch, sign: 1 | -1) => {
    total.matches += sign * batch.matches;
    total.characters += sign * batch.characters;
  };
  const through = () => batches.at(-1)?.through ?? from;
  /** The last answer per key until something changes: thousands of readers may request the same. */
  const answers = new Map<string, Take & { readonly position: number; readonly taken: TakeResult }>();
  return {
    through,
    /** Drops everything before this position. */
    restart(position: number): void {
      answers.clear();
      for (const batch of batches) count(batch, -1);
      batches = [];
      lists.clear();
      from = position;
    },
    add(batch: TailBatch): void {
      answers.clear();
      const newest = batches.at(-1);
      if (batch.matches > 0) batches.push(batch);
      else if (newest) batches[batches.length - 1] = { ...newest, through: batch.through };
      else from = batch.through;
      count(batch, 1);
      append(lists, batch);
      while (total.matches > matchesMax || total.characters > charactersMax) {
        const oldest = batches.shift();
        if (!oldest) return;
        count(oldest, -1);
        from = oldest.through;
        drop(lists, oldest);
      }
    },
    /** Drops matches that were removed from the log: readers that did not get them yet must not get them from here. */
    remove(positions: ReadonlySet<number>): void {
      if (positions.size === 0) return;
      answers.clear();
      const isKept = (one: LogEntry) => !('match' in one) || !positions.has(one.position);
      for (const [key, list] of lists) if (!list.every(isKept)) lists.set(key, list.filter(isKept));
    },
    /** Returns what follows a position; null if it is no longer kept. Equal requests get the same object. */
    after(key: string, position: number, take: Take): TakeResult | null {
      if (position < from) return null;
      if (position >= through()) return { entries: nothing, through: position, isFull: false };
      const known = answers.get(key);
      const isKnown = known?.position === position && known.limit === take.limit;
      if (isKnown && known.accepts === take.accepts) return known.taken;
      const taken = takeAfter(lists.get(key) ?? [], position, take, through());
      answers.set(key, { ...take, position, taken });
      return taken;
    },
  };
}

function takeAfter(
  list: readonly LogEntry[],
  position: number,
  { limit, accepts }: Take,
  through: number,
): TakeResult {
  const entries: LogEntry[] = [];
  const sum = { matches: 0, removals: 0, characters: 0 };
  for (let at = firstAfter(list, position); at < list.length; at++) {
    const one = list[at];
    if (!one || !accepts(one)) continue;
    sum['match' in one ? 'matches' : 'removals'] += 1;
    sum.characters += 'match' in one ? jsonOf(one).length : 0;
    const last = entries.at(-1);
    const isFull = sum.matches > limit || sum.removals > removalsMax || sum.characters > takenCharactersMax;
    if (last && isFull) return { entries, through: last.position, isFull };
    entries.push(one);
  }
  return { entries, through: Math.max(position, through), isFull: sum.matches === limit };
}

function append(lists: Map<string, LogEntry[]>, { byKey }: TailBatch): void {
  for (const [key, added] of byKey) {
    const list = lists.get(key);
    if (list) list.push(...added);
    else lists.set(key, added);
  }
}

function drop(lists: Map<string, LogEntry[]>, { byKey, through }: TailBatch): void {
  for (const key of byKey.keys()) {
    const list = lists.get(key) ?? [];
    list.splice(0, firstAfter(list, through));
    if (list.length === 0) lists.delete(key);
  }
}

/** The index of the first entry after a position. The list is in the order of the log. */
function firstAfter(list: readonly LogEntry[], position: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.position ?? Infinity) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
