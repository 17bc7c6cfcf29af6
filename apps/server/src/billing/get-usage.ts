import type { AnswerOf, Platform, RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import { platforms } from '../upstream/platforms.ts';
import { whole } from './divide.ts';
import { type CountedMatches, costOfMatches, type Prices, roundUsd, sumUsd, type Usd } from './prices.ts';

const dayMs = 24 * 3_600_000;
const defaultDays = 30;
const rulesMax = 1_000;

export interface GetUsageOptions {
  readonly database: Database;
  /** Throws if the account has no such rule. rules/ uses the prices here, so it is not imported. */
  readonly assertRule: (accountId: string, ruleId: string) => Promise<void>;
  readonly prices: Prices;
  readonly nowMs: () => number;
}

type Entry = AnswerOf<'GetUsage'>['usage'][number];
type Figures = Pick<Entry, 'matches' | 'resources' | 'usd'>;

interface UsageRow extends CountedMatches {
  readonly day: string | null;
  readonly rule_id: string | null;
  readonly rule_name: string | null;
  readonly platform: Platform;
  readonly matches: number;
}

/**
 * Uses only what was stored with the account's own matches. A share of the real bill would reveal to an account that others share its rule,
 * and when. So two accounts with the same rule both see the full price, and the sum over accounts is more than the bill.
 */
export function getUsage(options: GetUsageOptions): Handler<'GetUsage'> {
  const { assertRule, prices } = options;
  return async ({ principal: { accountId }, request }) => {
    const ruleId = request.rule_id ?? null;
    if (ruleId !== null) await assertRule(accountId, ruleId);
    const rows = await readUsage(options, accountId, request);
    const judge = await readJudge(options, accountId, request);
    const priced = rows.map((row) => ({ row, usd: costOfMatches(prices, row.platform, row) }));
    const shown =
      request.by === 'rule' ? priced.toSorted((a, b) => b.usd.max - a.usd.max).slice(0, rulesMax) : priced;
    return {
      usage: shown.map(({ row, usd }) => ({
        ...(row.day !== null && { day: row.day }),
        ...(row.rule_id !== null && { rule_id: row.rule_id, rule_name: row.rule_name }),
        platform: row.platform,
        ...figuresOf([row], usd),
      })),
      total: figuresOf(rows, sumUsd(priced.map(({ usd }) => usd))),
      ...(judge && judge.calls > 0 && { judge }),
      prices_as_of: prices.as_of,
    };
  };
}

async function readUsage(
  { database, nowMs }: GetUsageOptions,
  accountId: string,
  { rule_id, platform, from, to, by }: RequestOf<'GetUsage'>,
): Promise<UsageRow[]> {
  const [begin, end] = daysOf({ from, to }, nowMs());
  return await database.forAccount(accountId).many<UsageRow>(
    `select ${by === 'day' ? 'day::text' : 'null as day'}, platform,
       ${by === 'rule' ? ruleColumns : 'null as rule_id, null as rule_name'}, sum(matches)::bigint as matches, sum(items)::bigint as items, sum(users)::bigint as users,
       sum(referenced_posts)::bigint as referenced_posts
     from usage
     where account_id = $1 and day between $2 and $3 and ($4::text is null or rule_id = $4)
       and ($5::text is null or platform = $5)
     group by ${by === undefined ? 'platform' : by === 'day' ? 'day, platform' : 'rule_id, platform'}
     order by 1, 3, 2`,
    [accountId, begin, end, rule_id ?? null, platform ?? null],
  );
}

function daysOf({ from, to }: Pick<RequestOf<'GetUsage'>, 'from' | 'to'>, nowMs: number): [string, string] {
  const end = to === undefined ? nowMs : Date.parse(to);
  const begin = from === undefined ? end - (defaultDays - 1) * dayMs : Date.parse(from);
  const day = (ms: number) => new Date(Math.max(0, ms)).toISOString().slice(0, 10);
  return [day(begin), day(end)];
}

function readJudge(
  { database, nowMs }: GetUsageOptions,
  accountId: string,
  { rule_id, ...window }: RequestOf<'GetUsage'>,
): Promise<AnswerOf<'GetUsage'>['judge'] | null> {
  return database.forAccount(accountId).one(
    `select coalesce(sum(calls), 0) as calls, coalesce(sum(usd), 0) as usd from judge_usage
     where account_id = $1 and day between $2 and $3 and ($4::text is null or rule_id = $4)`,
    [accountId, ...daysOf(window, nowMs()), rule_id ?? null],
  );
}

/** Deleted rules keep a row until their matches are purged. */
const ruleColumns = `rule_id,
  (select name from rules where rules.id = usage.rule_id and state <> 'deleted') as rule_name`;

function figuresOf(rows: readonly UsageRow[], usd: Usd): Figures {
  const sum = (count: (row: UsageRow) => number) => rows.reduce((total, row) => total + count(row), 0);
  const itemsOf = (kind: string) => (row: UsageRow) =>
    platforms[row.platform].billing.itemKind === kind ? row.items : 0;
  return {
    matches: sum(({ matches }) => matches),
    resources: {
      posts: sum(itemsOf('post')) / whole,
      referenced_posts: sum((row) => row.referenced_posts) / whole,
      users: sum(({ users }) => users) / whole,
      pages: sum(itemsOf('page')) / whole,
    },
    usd: roundUsd(usd),
  };
}
