import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import {
  type ComparedVerdict,
  compareVerdict,
  type ParsedRules,
  type VerdictOutcome,
} from '../language/explain-match.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import { slotOfTag } from '../slots/slot.ts';
import { platforms } from '../upstream/platforms.ts';
import type { Verdict } from './match-worker.ts';

/*
 * A platform that names every matching rule gives, with each item, its verdict on all registered rules of the source. Some
 * items are kept in memory when they are matched, and compared later with what our evaluator says: the rules that the item
 * names, and a random choice of those that it does not. The work is bounded however many items come. What a dying process
 * has in memory is not counted.
 */

export const compareEveryMs = 30_000;
/** All of these are of one source. */
const sampleEveryMs = 1_000;
const waitingMax = 60;
/** Rules that an item names, and rules that it does not. */
const namedMax = 50;
const unnamedMax = 50;
/** One percent of a core. */
const computingMsMax = compareEveryMs / 100;
/** The upstream's list is read every 30 s, every 5 minutes where calls are scarce. */
const patienceMs = 15 * 60_000;
/** Between our clock, the database's and the platform's. */
const clockSlackMs = 10_000;
const toldMax = 5;
const keptDays = 400;
const provenMin = 1_000;

/** An upstream rule that is registered and not being removed. */
export interface RegisteredRule {
  readonly slotId: string;
  readonly upstreamRuleId: string | null;
  readonly value: string;
  /** Since when the platform heeds it without interruption. */
  readonly heededFrom: Date;
}

export interface RegisteredRules {
  /** When all of them were last seen in the upstream's list. */
  readonly seenAt: Date | null;
  readonly rules: readonly RegisteredRule[];
}

export interface VerdictCount {
  readonly platform: Platform;
  readonly operator: string;
  readonly outcome: VerdictOutcome;
  count: number;
}

interface WaitingItem {
  readonly event: LogEvent;
  readonly heardAtMs: number;
  readonly namedValues: string[];
}

export interface VerdictSamplerOptions {
  readonly installation: string;
  readonly store: ReturnType<typeof createVerdictStore>;
  readonly parsedRules: ParsedRules;
  readonly telemetry: Pick<Telemetry, 'verdictCompared' | 'verdictFalse'>;
  readonly nowMs: () => number;
}

export function createVerdictSampler(options: VerdictSamplerOptions) {
  const waiting = new Map<string, WaitingItem[]>();
  const lastTakenMs = new Map<string, number>();
  const take = (event: LogEvent, value: string): void => {
    const items = waiting.get(event.sourceId) ?? [];
    waiting.set(event.sourceId, items);
    const last = items.at(-1);
    if (last?.event === event) {
      if (last.namedValues.length < namedMax) last.namedValues.push(value);
      return;
    }
    const heardAtMs = options.nowMs();
    const lastMs = lastTakenMs.get(event.sourceId) ?? Number.NEGATIVE_INFINITY;
    if (heardAtMs - lastMs < sampleEveryMs || items.length >= waitingMax) return;
    lastTakenMs.set(event.sourceId, heardAtMs);
    items.push({ event, heardAtMs, namedValues: [value] });
  };
  return {
    /** The verdicts of one batch, those of one event after each other. */
    sample: (verdicts: readonly Verdict[]): void => {
      // What was searched for names the rule that was searched for, and no other.
      for (const { event, value } of verdicts) if (event.via === undefined) take(event, value);
    },
    /** Compares what can be compared by now, and adds to the totals. */
    async compare(): Promise<void> {
      const taken = new Map(waiting);
      waiting.clear();
      for (const [sourceId, items] of taken) {
        const counting = createCounting(options);
        const left = await compareItems(options, counting, sourceId, items);
        if (left.length > 0) waiting.set(sourceId, [...left, ...(waiting.get(sourceId) ?? [])]);
        await options.store.add(counting.counts());
      }
    },
  };
}

/** Returns the items that cannot be compared yet. */
async function compareItems(
  { installation, store, nowMs }: VerdictSamplerOptions,
  counting: Counting,
  sourceId: string,
  items: readonly WaitingItem[],
): Promise<WaitingItem[]> {
  const [first] = items;
  if (first === undefined) return [];
  const isComplete = platforms[first.event.platform].namesEveryRule;
  const registered = isComplete
    ? await store.registeredOn(sourceId, unnamedMax)
    : { seenAt: null, rules: [] };
  const isReady = ({ heardAtMs }: WaitingItem) =>
    !isComplete || heardAtMs + clockSlackMs <= (registered.seenAt?.getTime() ?? 0);
  for (const { event, namedValues } of items.filter(isReady)) {
    for (const value of namedValues) await counting.compare(event, value, true);
    for (const { value } of deniedRules(installation, event, registered.rules))
      await counting.compare(event, value, false);
  }
  return items.filter((item) => !isReady(item) && nowMs() - item.heardAtMs < patienceMs);
}

/**
 * Those of the rules that the platform decided not to match: it heeded them when the item was published, and does not name
 * them. That they were there until it was heard, the list tells that was read later.
 */
function deniedRules(
  installation: string,
  { rules: named, payload }: LogEvent,
  registered: readonly RegisteredRule[],
): RegisteredRule[] {
  const publishedAtMs = Date.parse(payload.published_at ?? '');
  const slotIds = new Set(named.map(({ tag }) => slotOfTag(installation, tag)));
  const upstreamRuleIds = new Set<string | null>(named.map(({ upstreamRuleId }) => upstreamRuleId));
  return registered.filter(
    ({ slotId, upstreamRuleId, heededFrom }) =>
      heededFrom.getTime() + clockSlackMs <= publishedAtMs &&
      !slotIds.has(slotId) &&
      !upstreamRuleIds.has(upstreamRuleId),
  );
}

type Counting = ReturnType<typeof createCounting>;

/** Of one source in one step: nothing is compared any more once its time for computing is used up. */
function createCounting({ parsedRules, telemetry, nowMs }: VerdictSamplerOptions) {
  const counts = new Map<string, VerdictCount>();
  const yieldIfDue = createEventLoopYield();
  let computedMs = 0;
  let told = 0;
  const count = ({ platform, platformPostId }: LogEvent, value: string, compared: ComparedVerdict): void => {
    const { outcome, operators } = compared;
    for (const operator of operators) {
      const key = `${platform} ${operator} ${outcome}`;
      const known = counts.get(key) ?? { platform, operator, outcome, count: 0 };
      known.count += 1;
      counts.set(key, known);
    }
    telemetry.verdictCompared({ platform, operators, outcome });
    if (outcome === 'false' && told++ < toldMax)
      telemetry.verdictFalse({ platform, operators, value, platformPostId });
  };
  return {
    async compare(event: LogEvent, value: string, isNamed: boolean): Promise<void> {
      if (computedMs >= computingMsMax) return;
      await yieldIfDue();
      const beganAtMs = nowMs();
      const { platform, payload } = event;
      const compared = compareVerdict(parsedRules, { platform, value, raw: payload.raw, isNamed });
      computedMs += nowMs() - beganAtMs;
      if (compared !== null) count(event, value, compared);
    },
    counts: () => [...counts.values()],
  };
}

export function createVerdictStore(database: Database) {
  return {
    /** A random choice of them. */
    async registeredOn(sourceId: string, max: number): Promise<RegisteredRules> {
      // Before the rules: one that the list did not have is not registered any more when this is recorded.
      const source = await database.one<{ rules_seen_at: Date | null }>(
        'select rules_seen_at from sources where id = $1',
        [sourceId],
      );
      const rules = await database.many<RegisteredRule>(
        `select slots.id as "slotId", upstream_rule_id as "upstreamRuleId", value,
           confirmed_at + rule_delay_ms * interval '1 ms' as "heededFrom"
         from slots join sources on sources.id = slots.source_id
         where slots.source_id = $1 and slots.state = 'registered' and confirmed_at is not null
         order by random() limit $2`,
        [sourceId, max],
      );
      return { seenAt: source?.rules_seen_at ?? null, rules };
    },
    /** In the order of the key, so that two nodes wait for each other instead of deadlocking. */
    async add(counts: readonly VerdictCount[]): Promise<void> {
      if (counts.length === 0) return;
      await database.run(
        `insert into verdicts (day, platform, operator, outcome, count)
         select (now() at time zone 'UTC')::date, * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
           as new (platform, operator, outcome, count)
         order by platform, operator, outcome
         on conflict (day, platform, operator, outcome) do update set count = verdicts.count + excluded.count`,
        [
          counts.map(({ platform }) => platform),
          counts.map(({ operator }) => operator),
          counts.map(({ outcome }) => outcome),
          counts.map(({ count }) => count),
        ],
      );
    },
  };
}

export async function forgetVerdicts(sql: Sql): Promise<void> {
  await sql.run(`delete from verdicts where day < (now() at time zone 'UTC')::date - $1::integer`, [
    keptDays,
  ]);
}

export interface VerdictRow extends Readonly<Record<VerdictOutcome, number>> {
  readonly platform: string;
  readonly operator: string;
  /** At least 1,000 verdicts, and no disagreement. */
  readonly proven: boolean;
}

/** The totals of the last days, today included. */
export async function listVerdicts(sql: Sql, days: number): Promise<VerdictRow[]> {
  return await sql.many<VerdictRow>(
    `select *, operator <> 'several' and agreed >= $2 and "false" + missed = 0 as proven from (
       select platform, operator,
         coalesce(sum(count) filter (where outcome = 'agreed'), 0)::bigint as agreed,
         coalesce(sum(count) filter (where outcome = 'false'), 0)::bigint as "false",
         coalesce(sum(count) filter (where outcome = 'missed'), 0)::bigint as missed,
         coalesce(sum(count) filter (where outcome = 'undecided'), 0)::bigint as undecided
       from verdicts where day > (now() at time zone 'UTC')::date - $1::integer group by platform, operator
     ) as totals order by platform desc, operator`,
    [days, provenMin],
  );
}
