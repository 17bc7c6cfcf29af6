import type { Answers } from '@earshot/sdk';

export type Usage = Answers['GetUsage'];
export type Figures = Usage['total'];
export type UsageEntry = Usage['usage'][number];

export interface DayUsage extends Figures {
  /** Such as `2026-11-14`, UTC. */
  readonly day: string;
}

const zeroFigures: Figures = {
  matches: 0,
  resources: { posts: 0, referenced_posts: 0, users: 0, pages: 0 },
  usd: { min: 0, max: 0 },
};

const dayMs = 86_400_000;

/** One entry for every UTC day of the window, including days without matches, so that the time axis is linear. */
export function byDay(
  entries: readonly UsageEntry[],
  { from, to }: { from: number; to: number },
): DayUsage[] {
  const sums = new Map<string, Figures>();
  for (const entry of entries)
    if (entry.day !== undefined) sums.set(entry.day, add(sums.get(entry.day) ?? zeroFigures, entry));
  const days: DayUsage[] = [];
  for (let at = startOfDay(from); at <= to; at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push({ day, ...(sums.get(day) ?? zeroFigures) });
  }
  return days;
}

export function startOfDay(time: number): number {
  return time - (time % dayMs);
}

export interface RuleUsage extends Figures {
  readonly ruleId: string;
  /** Null for a deleted rule. */
  readonly name: string | null;
  readonly platforms: readonly UsageEntry['platform'][];
}

/** One entry per rule, the most expensive first. */
export function byRule(entries: readonly UsageEntry[]): RuleUsage[] {
  return [...Map.groupBy(entries, ({ rule_id }) => rule_id ?? '')]
    .map(([ruleId, own]) => ({
      ruleId,
      name: own[0]?.rule_name ?? null,
      platforms: own.map(({ platform }) => platform),
      ...own.reduce(add, zeroFigures),
    }))
    .toSorted((a, b) => b.usd.max - a.usd.max || b.matches - a.matches);
}

function add(a: Figures, b: Figures): Figures {
  return {
    matches: a.matches + b.matches,
    resources: {
      posts: a.resources.posts + b.resources.posts,
      referenced_posts: a.resources.referenced_posts + b.resources.referenced_posts,
      users: a.resources.users + b.resources.users,
      pages: a.resources.pages + b.resources.pages,
    },
    usd: { min: micro(a.usd.min + b.usd.min), max: micro(a.usd.max + b.usd.max) },
  };
}

/** Rounds to millionths, as the API does. Without this, a sum of floats may show another cent than the total. */
function micro(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}
