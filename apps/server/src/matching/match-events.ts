import type { Platform } from '@earshot/contract';
import type { Recipient } from '../billing/bill.ts';
import { partsOf } from '../billing/divide.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import { slotOfTag } from '../slots/slot.ts';
import { platforms } from '../upstream/platforms.ts';

/** A rule that holds a slot. */
export interface Holder {
  readonly slotId: string;
  readonly sourceId: string;
  readonly upstreamRuleId: string | null;
  readonly ruleId: string;
  readonly accountId: string;
  readonly ruleVersion: number;
  /** Since when the rule has held the slot, including pauses. Null if irrelevant. */
  readonly heldSince: Date | null;
  /** The slot's query, with which Earshot's evaluator checks the match. */
  readonly value: string;
}

export interface NewMatch {
  readonly accountId: string;
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly platform: Platform;
  readonly eventKey: string;
  readonly eventDay: string;
  readonly via: 'stream' | 'search';
  /** Null if unknown. */
  readonly itemAt: Date | null;
  readonly cost: MatchCost;
}

/** The cost of the match for its account. It depends only on the account's own matches. */
export interface MatchCost {
  /** Share of the item in millionths: it is divided among the account's rules that got it. */
  readonly part: number;
  /** Users that the platform delivered with the item. */
  readonly users: number;
  readonly posts: number;
}

export interface MatchResult {
  readonly posts: readonly LogEvent[];
  readonly matches: readonly NewMatch[];
  /** The rules that got each event; no entry means none. */
  readonly recipients: ReadonlyMap<LogEvent, readonly Recipient[]>;
  /** Events that name an upstream rule without a slot. */
  readonly unknown: ReadonlySet<LogEvent>;
  /** The platform's verdicts, once per event and query, to compare with Earshot's evaluator. */
  readonly verdicts: ReadonlyArray<{ event: LogEvent; value: string }>;
}

export interface SlotReferences {
  /** Whether some events come from a search and may be older than a holder. */
  readonly searched: boolean;
  readonly slotIds: readonly string[];
  readonly upstreamRules: ReadonlyArray<{ sourceId: string; upstreamRuleId: string }>;
}

/** The slots that the events name, by Earshot's tag or by the upstream rule id. */
export function slotReferences(installation: string, events: readonly LogEvent[]): SlotReferences {
  const slotIds = new Set<string>();
  const upstreamRules = new Map<string, { sourceId: string; upstreamRuleId: string }>();
  for (const { sourceId, rules } of events) {
    for (const { upstreamRuleId, tag } of rules) {
      const slotId = slotOfTag(installation, tag);
      if (slotId === null) upstreamRules.set(`${sourceId} ${upstreamRuleId}`, { sourceId, upstreamRuleId });
      else slotIds.add(slotId);
    }
  }
  return {
    searched: events.some(({ via }) => via === 'search'),
    slotIds: [...slotIds],
    upstreamRules: [...upstreamRules.values()],
  };
}

type FindHolders = (event: LogEvent, rule: LogEvent['rules'][number]) => readonly Holder[] | undefined;

function createFindHolders(installation: string, holders: readonly Holder[]): FindHolders {
  const bySlot = Map.groupBy(holders, (holder) => holder.slotId);
  const byUpstreamRule = Map.groupBy(holders, (holder) => `${holder.sourceId} ${holder.upstreamRuleId}`);
  return ({ sourceId }, { upstreamRuleId, tag }) => {
    const slotId = slotOfTag(installation, tag);
    return slotId === null ? byUpstreamRule.get(`${sourceId} ${upstreamRuleId}`) : bySlot.get(slotId);
  };
}

/** Splits a batch, in order, into parts with at most `max` matches. An event with more gets its own part. */
export function splitByMatches<Logged extends { readonly event: LogEvent }>(
  batch: readonly Logged[],
  { installation, holders, max }: { installation: string; holders: readonly Holder[]; max: number },
): Logged[][] {
  const findHolders = createFindHolders(installation, holders);
  const parts: Logged[][] = [];
  let left = 0;
  for (const logged of batch) {
    const { event } = logged;
    const matches = event.rules.reduce((sum, rule) => sum + (findHolders(event, rule)?.length ?? 0), 0);
    if (matches > left || parts.length === 0) {
      parts.push([]);
      left = max;
    }
    parts.at(-1)?.push(logged);
    left -= matches;
  }
  return parts;
}

/** Creates a match for every rule that holds a slot which the platform matched. Pure. */
export function matchEvents(
  installation: string,
  events: readonly LogEvent[],
  holders: readonly Holder[],
): MatchResult {
  const findHolders = createFindHolders(installation, holders);
  const posts: LogEvent[] = [];
  const unknown = new Set<LogEvent>();
  const matches = new Map<string, NewMatch>();
  const recipients = new Map<LogEvent, readonly Holder[]>();
  const verdicts: Array<{ event: LogEvent; value: string }> = [];
  for (const event of events) {
    const got = new Map<string, Holder>();
    for (const rule of event.rules) {
      const found = findHolders(event, rule);
      if (!found && slotOfTag(installation, rule.tag) === null) unknown.add(event);
      if (found?.[0]) verdicts.push({ event, value: found[0].value });
      for (const holder of found ?? []) {
        if (isFromBefore(event, holder.heldSince)) continue;
        // While a rule changes, it holds the slots of two versions. The match counts for the newer one.
        if ((got.get(holder.ruleId)?.ruleVersion ?? 0) <= holder.ruleVersion) got.set(holder.ruleId, holder);
      }
    }
    if (got.size === 0) continue;
    posts.push(event);
    recipients.set(event, [...got.values()]);
    for (const match of matchesOf(event, [...got.values()])) {
      const key = `${match.ruleId} ${match.eventKey}`;
      if ((matches.get(key)?.ruleVersion ?? 0) <= match.ruleVersion) matches.set(key, match);
    }
  }
  return { posts, matches: [...matches.values()], recipients, unknown, verdicts };
}

function matchesOf(event: LogEvent, holders: readonly Holder[]): NewMatch[] {
  const { platform, key: eventKey, day: eventDay, via = 'stream' } = event;
  const { users, posts } = platforms[platform].billing.cameAlong(event);
  const time = platforms[platform].itemTime(event);
  const itemAt = time && !Number.isNaN(time.getTime()) ? time : null;
  const partOf = createPartOf(holders);
  return holders.map(({ accountId, ruleId, ruleVersion }) => {
    const cost = { part: partOf(accountId), users: users.length, posts: posts.length };
    return { accountId, ruleId, ruleVersion, platform, eventKey, eventDay, via, itemAt, cost };
  });
}

/** Divides an item among the rules of each account; each call returns the next part. */
function createPartOf(holders: readonly Holder[]): (accountId: string) => number {
  const parts = new Map(
    Map.groupBy(holders, ({ accountId }) => accountId)
      .entries()
      .map(([accountId, { length }]) => [accountId, partsOf(length)]),
  );
  return (accountId) => parts.get(accountId)?.pop() ?? 0;
}

/** Post times have a resolution of one second. */
const precisionMs = 1_000;

/**
 * A search covers all holders of a slot. A rule that took the slot later gets no older posts: they would disclose
 * that another account held the slot.
 */
function isFromBefore({ via, payload }: LogEvent, heldSince: Date | null): boolean {
  if (via !== 'search' || heldSince === null) return false;
  return Date.parse(payload.published_at ?? '') < heldSince.getTime() - precisionMs;
}
