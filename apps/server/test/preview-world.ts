import type { AnswerOf, Budget, RequestInput } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { defaultPrices } from '../src/billing/prices.ts';
import { createAssertAffordable } from '../src/budgets/assert-affordable.ts';
import type { InstallationBudget } from '../src/budgets/installation-budget.ts';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import type { Database } from '../src/engines/database.ts';
import { previewRule } from '../src/estimates/preview-rule.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import type { SpendingChange } from '../src/rules/create-rule.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { valueHash } from '../src/slots/slot.ts';
import type { ItemCounts } from '../src/upstream/platform.ts';
import { callOf } from './call-of.ts';
import { summariseMatches } from './size-world.ts';
import { openTestDatabase, seedRules } from './support.ts';

/** Two accounts with ten rules each, `rule_1` to `rule_10` and `other_1` to `other_10`, and items that are stored with SQL. */
export interface PreviewWorld extends AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** Its queries are those of the rule's present version. */
  setValue(ruleId: string, value: string): Promise<void>;
  /** The rule has had this query, and no other, for so long. */
  hold(ruleId: string, value: string, hours: number): Promise<void>;
  /** As CreateRule, UpdateRule and ResumeRule call it; the rule budget applies to rules without one. */
  assertAffordable(
    change: Partial<SpendingChange> & { value?: string },
    limits?: { ruleBudget?: Budget | null; answerWithinMs?: number },
  ): Promise<void>;
  store(items: readonly StoredPost[]): Promise<void>;
  preview(
    request: Partial<RequestInput<'PreviewRule'>> & { value?: string },
    caller?: { accountId?: string; scopes?: readonly ('rules:read' | 'matches:read')[] },
  ): Promise<NonNullable<AnswerOf<'PreviewRule'>['platforms']['x']>>;
}

export interface StoredPost {
  readonly text: string;
  readonly rules: readonly string[];
  readonly hoursAgo?: number;
  readonly version?: number;
  /** Handle of its author. */
  readonly author?: string;
  readonly url?: string;
}

export const upstreamSettings = {
  xTokens: [],
  xBaseUrl: 'http://127.0.0.1:1',
  xRuleDelayMs: 0,
  xPlan: 'payg',
  xExpansions: 'author',
  xSearch: 'recent',
  xSearchPostsPerDay: 0,
  xCompliance: 'off',
  upstreamPace: 1,
  firehoseTokens: [],
  firehoseBaseUrl: 'http://127.0.0.1:1',
} as const;

export async function startPreviewWorld(
  template: Template,
  counts?: readonly ItemCounts[],
  installationBudget: InstallationBudget | null = null,
): Promise<PreviewWorld> {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 10);
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await database.run(
    `insert into rules (id, account_id, name, intent, state)
     select 'other_' || n, 'acc_2', 'rule', 'test', 'active' from generate_series(1, 10) as n`,
  );
  await database.run('update plans set counts = 3');
  const counting = {
    database,
    coverage: createCoverageStore(database),
    prices: defaultPrices(),
    counts: counts ? { x: counts } : {},
    installationBudget,
    nowMs: Date.now,
  };
  const handler = previewRule({
    ...counting,
    rules: createRuleStore(database),
    tiers: {},
    parsedRules: createParsedRules(),
    config: { ...upstreamSettings, retentionDays: 30 },
  });
  const running = stack.move();
  return {
    database,
    url: clone.url,
    setValue: (ruleId, value) => setValue(database, ruleId, value),
    hold: (ruleId, value, hours) => holdValue(database, { ruleId, value, hours }),
    assertAffordable({ value = 'aurora', ...change }, { ruleBudget = null, ...limits } = {}) {
      const config = upstreamSettings;
      // Generous, so that a busy machine does not prevent an estimate.
      const within = { answerWithinMs: 30_000, ...limits };
      return createAssertAffordable({ ...counting, config, ruleBudget, ...within })({
        accountId: 'acc_1',
        keyId: 'key_1',
        ruleId: null,
        kind: 'start',
        values: [{ platform: 'x', value, translatedValue: value }],
        acceptsEstimate: false,
        ...change,
      });
    },
    store: (items) => storePosts(database, items),
    async preview({ value = 'aurora', days = 7, ...request }, caller = {}) {
      const { accountId = 'acc_1', scopes = ['rules:read', 'matches:read'] } = caller;
      const call = callOf(
        'PreviewRule',
        { platforms: ['x'], overrides: { x: value }, days, ...request },
        accountId,
      );
      const { platforms } = await handler({ ...call, principal: { ...call.principal, scopes } });
      if (!platforms.x) throw new Error('nothing was previewed on x');
      return platforms.x;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function setValue(database: Database, ruleId: string, value: string): Promise<void> {
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id, platform_rule_id)
     select $1, version, 'x', $2, $2, 'slot_1', '1' from rules where id = $1`,
    [ruleId, value],
  );
}

async function holdValue(
  database: Database,
  { ruleId, value, hours }: { ruleId: string; value: string; hours: number },
): Promise<void> {
  const slot = `slot_of_${ruleId}`;
  await database.run(
    `insert into slots (id, platform, source_id, value, value_hash, state, upstream_rule_id)
     values ($1, 'x', 'x:main', $2, $3, 'registered', $1)`,
    [slot, value, valueHash('x', value)],
  );
  await database.run(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     select $1, id, account_id, 'x', 1, now() from rules where id = $2`,
    [slot, ruleId],
  );
  await database.run(`update watches set from_at = now() - $2 * interval '1 hour' where slot_id = $1`, [
    slot,
    hours,
  ]);
}

let posts = 0;

async function storePosts(database: Database, items: readonly StoredPost[]): Promise<void> {
  const rows = items.flatMap(({ text, rules, hoursAgo = 1, version = 1, author, url = null }) => {
    const key = String(1_900_000_000_000_000_000n + BigInt(posts++));
    const writer = author === undefined ? null : { id: `id of ${author}`, name: null, handle: author };
    const raw = { data: { id: key, text } };
    const payload = { url, title: null, text, author: writer, published_at: null, language: null, raw };
    return rules.map((ruleId) => ({ key, ruleId, hoursAgo, version, payload: JSON.stringify(payload) }));
  });
  const days = `(now() at time zone 'UTC')::date`;
  await database.run(`select ensure_partitions(${days} - 31, ${days} + 1)`);
  const given = `from json_to_recordset($1) as given (key text, "ruleId" text, "hoursAgo" float, version int, payload text),
    lateral (select now() - "hoursAgo" * interval '1 hour' as at) as times`;
  await database.run(
    `insert into posts (platform, event_key, event_day, platform_post_id, payload)
     select 'x', key, (at at time zone 'UTC')::date, key, payload ${given} on conflict do nothing`,
    [JSON.stringify(rows)],
  );
  await database.run(
    `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day, created_at)
     select (select coalesce(max(position), 0) from matches) + row_number() over (order by at),
       (select account_id from rules where id = "ruleId"), "ruleId", version, 'x', key, (at at time zone 'UTC')::date, at ${given}`,
    [JSON.stringify(rows)],
  );
  // Positions follow the times, also if older ones are stored later.
  await database.run(
    `update matches set position = numbered.n from (
       select rule_id, event_key, event_day, row_number() over (order by created_at, position) as n from matches
     ) as numbered
     where matches.rule_id = numbered.rule_id and matches.event_key = numbered.event_key
       and matches.event_day = numbered.event_day`,
  );
  await fillSummaries(database);
}

/** What the match transaction keeps beside matches. */
async function fillSummaries(database: Database): Promise<void> {
  await database.run('truncate heads, day_heads, match_times');
  await summariseMatches(database);
}

export interface ManyItems {
  readonly items: number;
  readonly days: number;
  /** The approximate size of each payload. */
  readonly bytes: number;
}

/**
 * Evenly over the days: each item matched two rules of the first account, and between any two is one of the other account.
 * One in ten contains "rare", one in a hundred "scarce", all contain "aurora".
 */
export async function fillItems(database: Database, { items, days, bytes }: ManyItems): Promise<void> {
  const today = `(now() at time zone 'UTC')::date`;
  await database.run(`select ensure_partitions(${today} - ${days} - 1, ${today} + 1)`);
  const each = `from generate_series(1, ${items}) as e,
    lateral (select now() - interval '1 minute' - (1 - e::float / ${items}) * ${days - 0.1} * interval '1 day' as at) as times`;
  const text = `'aurora ' || e || case when e % 10 = 0 then ' rare' else '' end || case when e % 100 = 7 then ' scarce' else '' end`;
  await database.run(
    `insert into posts (platform, event_key, event_day, platform_post_id, payload)
     select 'x', e::text, (at at time zone 'UTC')::date, e::text, json_build_object('url', null, 'title', null, 'text', ${text},
       'author', null, 'published_at', null, 'language', 'en', 'raw', json_build_object('data', json_build_object('id', e::text, 'lang', 'en',
       'text', ${text}), 'filler', substr(repeat(md5(e::text), ${Math.ceil(bytes / 32)}), 1, ${bytes})))::text
     ${each}`,
  );
  const columns = 'position, account_id, rule_id, rule_version, platform, event_key, event_day, created_at';
  await database.run(
    `insert into matches (${columns})
     select 3 * e + r, case r when 2 then 'acc_2' else 'acc_1' end, case r when 2 then 'other_1' else 'rule_' || (1 + r) end, 1, 'x',
       e::text, (at at time zone 'UTC')::date, at
     ${each}, generate_series(0, 2) as r`,
  );
  await fillSummaries(database);
  await database.run('update match_log set last_position = $1', [3 * items + 3]);
  await database.run('vacuum analyze');
}
