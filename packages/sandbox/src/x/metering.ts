import { isJsonObject, type JsonObject } from '../http/json.ts';

/** Prices in millionths of a dollar, so that sums are exact (x.md §8.1). */
const prices = { post: 5_000, user: 10_000, countsRecent: 5_000, countsAll: 10_000 };

export type CountsCall = 'countsRecent' | 'countsAll';
export type Meter = ReturnType<typeof createMeter>;

interface OpenDay extends Record<CountsCall, number> {
  readonly posts: Set<string>;
  readonly users: Set<string>;
  readonly referenced: Set<string>;
}

interface Bill extends Record<CountsCall, number> {
  readonly posts: number;
  /** Posts that were delivered only with other posts on that day. */
  readonly referencedPosts: number;
  readonly users: number;
  /** `min` excludes referenced posts and users. X does not document whether they are billed (x.md §8.2). */
  readonly microUsd: { readonly min: number; readonly max: number };
}

/** What X bills for one UTC day. */
interface DayBill extends Bill {
  readonly date: string;
}

/** Days whose ids are known. Nothing is delivered on an older day, so its sums are enough. */
const openDaysMax = 3;
/** The range of the usage endpoint. */
const daysMax = 90;

/** A post or user is billed once per UTC day, however often it is delivered (x.md §8.1); a call of counts every time. */
export function createMeter() {
  const open = new Map<string, OpenDay>();
  const closed: DayBill[] = [];

  const dayOf = (atMs: number): OpenDay => {
    const date = new Date(atMs).toISOString().slice(0, 10);
    const day = open.get(date) ?? newDay();
    open.set(date, day);
    const [oldest] = open;
    if (open.size > openDaysMax && oldest !== undefined) {
      open.delete(oldest[0]);
      closed.push(toBill(...oldest));
      if (closed.length > daysMax - openDaysMax) closed.shift();
    }
    return day;
  };

  return {
    /** `delivered` is what a stream, a recovery or a search has sent: a record, or a page of them. */
    count(atMs: number, delivered: JsonObject): void {
      const { data, includes } = delivered;
      if (data === undefined) return;
      const along = isJsonObject(includes) ? includes : {};
      const day = dayOf(atMs);
      for (const id of idsOf(Array.isArray(data) ? data : [data])) day.posts.add(id);
      for (const id of idsOf(along['users'])) day.users.add(id);
      for (const id of idsOf(along['tweets'])) day.referenced.add(id);
    },
    countCall(atMs: number, call: CountsCall): void {
      dayOf(atMs)[call] += 1;
    },
    /** Of the last 90 days on which something was billed, oldest first. */
    days: (): DayBill[] => [...closed, ...Array.from(open, ([date, day]) => toBill(date, day))],
  };
}

/** Posts read, with referenced posts if these are billed. */
export function postsReadOn({ posts, referencedPosts }: DayBill, withExpansions: boolean): number {
  return posts + (withExpansions ? referencedPosts : 0);
}

export function sumOfDays(days: readonly Bill[]): Bill {
  const sum = (of: (day: Bill) => number) => days.reduce((total, day) => total + of(day), 0);
  return {
    posts: sum(({ posts }) => posts),
    referencedPosts: sum(({ referencedPosts }) => referencedPosts),
    users: sum(({ users }) => users),
    countsRecent: sum(({ countsRecent }) => countsRecent),
    countsAll: sum(({ countsAll }) => countsAll),
    microUsd: { min: sum(({ microUsd }) => microUsd.min), max: sum(({ microUsd }) => microUsd.max) },
  };
}

export function billToWire(bill: Bill): JsonObject {
  return {
    posts: bill.posts,
    referenced_posts: bill.referencedPosts,
    users: bill.users,
    counts_recent: bill.countsRecent,
    counts_all: bill.countsAll,
    micro_usd: bill.microUsd,
  };
}

export function dayToWire({ date, ...bill }: DayBill): JsonObject {
  return { date, ...billToWire(bill) };
}

function newDay(): OpenDay {
  return { posts: new Set(), users: new Set(), referenced: new Set(), countsRecent: 0, countsAll: 0 };
}

function toBill(date: string, { posts, users, referenced, countsRecent, countsAll }: OpenDay): DayBill {
  const referencedPosts = referenced
    .values()
    .filter((id) => !posts.has(id))
    .toArray().length;
  const min = posts.size * prices.post + countsRecent * prices.countsRecent + countsAll * prices.countsAll;
  const max = min + referencedPosts * prices.post + users.size * prices.user;
  return {
    date,
    posts: posts.size,
    referencedPosts,
    users: users.size,
    countsRecent,
    countsAll,
    microUsd: { min, max },
  };
}

function idsOf(list: unknown): string[] {
  const objects = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return objects.map(({ id }) => String(id));
}
