import type { RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { countMatches } from '../src/readers/count-matches.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { callOf } from './call-of.ts';
import { countReads, daysAgo, fillDay, needleMatches, type Size } from './size-world.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';

const yesterday = daysAgo(1);
const size: Size = { matches: 12_000, rules: 120, quietAccounts: 100, day: yesterday };
const hour = 3_600;

let template: Template;
let stack: AsyncDisposableStack;
let database: Database;
let url: string;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  template = stack.use(await createMigratedTemplate());
  const clone = stack.use(await template.clone());
  url = clone.url;
  database = stack.use(openTestDatabase(url, 1));
  await seedRules(database, size.rules);
  await fillDay(database, size);
  // Rules that are no longer listed, although their matches still exist.
  await database.run(`update rules set state = 'deleted' where id in ('rule_8', 'rule_9')`);
});
afterAll(() => stack?.disposeAsync());

/** A time of the day, which has the matches from its beginning to its end. */
const at = (hours: number) => new Date(Date.parse(yesterday) + hours * hour * 1_000).toISOString();
const request = (partial: Partial<RequestOf<'CountMatches'>>): RequestOf<'CountMatches'> => ({
  from: at(0),
  to: at(24),
  step: hour,
  ...partial,
});

const count = (partial: Partial<RequestOf<'CountMatches'>>, accountId = 'acc_1', max?: number) =>
  countMatches({ database, rules: createRuleStore(database), ...(max !== undefined && { max }) })(
    callOf('CountMatches', request(partial), accountId),
  );

interface Listed {
  readonly rule_id: string;
  readonly platform: string;
  readonly created_at: Date;
}

/** Counts match by match, from the account's own rows only. */
async function bruteForce(partial: Partial<RequestOf<'CountMatches'>>, accountId = 'acc_1') {
  const { from, to, step, rule_id, platform, by } = request(partial);
  const rows = await database.many<Listed>(
    `select rule_id, platform, created_at from matches where account_id = $1
       and rule_id in (select id from rules where state not in ('creating', 'deleted'))`,
    [accountId],
  );
  const [first, end] = [Date.parse(from), Date.parse(to)];
  const series = new Map<string, number[]>();
  for (const row of rows) {
    const ms = row.created_at.getTime();
    if (ms < first || ms >= end) continue;
    if (rule_id !== undefined && row.rule_id !== rule_id) continue;
    if (platform !== undefined && row.platform !== platform) continue;
    const key = by === 'rule' ? row.rule_id : by === 'platform' ? row.platform : '';
    const counts = series.get(key) ?? Array<number>(Math.ceil((end - first) / (step * 1_000))).fill(0);
    const nth = Math.floor((ms - first) / (step * 1_000));
    series.set(key, counts.with(nth, (counts[nth] ?? 0) + 1));
  }
  return series;
}

const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0);

describe('a count equals the number of matches counted one by one', () => {
  test.each<[string, Partial<RequestOf<'CountMatches'>>]>([
    ['of the account', {}],
    ['by platform', { by: 'platform' }],
    ['of a platform', { platform: 'firehose' }],
    ['of a rule', { rule_id: 'rule_7' }],
    ['of a rule, by platform', { rule_id: 'rule_7', by: 'platform' }],
    ['of a rule with few matches', { rule_id: 'rule_120', by: 'rule' }],
    ['of a rule and a platform', { rule_id: 'rule_3', platform: 'firehose' }],
    ['of an arbitrary part of the day', { from: at(3.1234), to: at(5.4321), step: 7 * 60 }],
    ['in steps of seconds', { from: at(12), to: at(12.01), step: 1 }],
    ['in one step that is longer than the range', { from: at(1), to: at(2), step: 30 * 24 * hour }],
    ['over a month', { from: at(-20 * 24), to: at(10 * 24), step: 6 * hour }],
  ])('%s', async (_, partial) => {
    const expected = await bruteForce(partial);
    expect(sum([...expected.values()].map(sum))).toBeGreaterThan(0);
    const { series, ...rest } = await count(partial);
    expect(rest).toEqual({
      from: request(partial).from,
      to: request(partial).to,
      step: request(partial).step,
    });
    const counted = new Map(
      series.map(({ rule_id, platform, counts }) => [rule_id ?? platform ?? '', counts]),
    );
    expect(counted).toEqual(expected);
  });

  test('by rule: the hundred with the most matches, those first, and no deleted rule', async () => {
    const expected = await bruteForce({ by: 'rule', from: at(0.5) });
    expect(expected.size).toBe(118);
    const { series } = await count({ by: 'rule', from: at(0.5) });
    expect(series).toHaveLength(100);
    for (const { rule_id, counts } of series) expect(counts).toEqual(expected.get(rule_id ?? ''));
    const totals = series.map(({ counts }) => sum(counts));
    expect(totals).toEqual(
      [...expected.values()]
        .map(sum)
        .toSorted((a, b) => b - a)
        .slice(0, 100),
    );
    expect(series.map(({ rule_id }) => rule_id)).not.toContain('rule_8');
  });

  test('without matches: zeros, and no series when they are split', async () => {
    const partial = { from: at(-48), to: at(-24), step: 8 * hour };
    expect((await count(partial)).series).toEqual([{ counts: [0, 0, 0] }]);
    expect((await count({ ...partial, by: 'rule' })).series).toEqual([]);
  });

  test('another account counts only its own matches', async () => {
    const { series } = await count({}, 'quiet_5');
    expect(sum(series.flatMap(({ counts }) => counts))).toBe(1);
    expect(new Map([['', series[0]?.counts]])).toEqual(await bruteForce({}, 'quiet_5'));
    await expect(count({ rule_id: 'rule_7' }, 'quiet_5')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a count reads hardly more than it counts', () => {
  test.each<[string, Partial<RequestOf<'CountMatches'>>]>([
    ['an hour of the account', { from: at(5), to: at(6), step: 60 }],
    ['an hour of a rule', { from: at(5), to: at(6), step: 60, rule_id: 'rule_7' }],
    ['a rule with few matches, the whole day', { rule_id: 'rule_119', from: at(0), to: at(24) }],
    ['a rare platform, the whole day', { platform: 'firehose' }],
    ['a range without matches', { from: at(-48), to: at(-24) }],
  ])('%s', async (_, partial) => {
    const counted = sum([...(await bruteForce(partial)).values()].map(sum));
    const { rows } = await countReads(database, () => count(partial));
    // Matches of deleted rules, and those in the ten seconds around both ends.
    expect(rows).toBeLessThanOrEqual(1.05 * counted + 30);
  });

  test('no more than the maximum, beyond which it is refused', async () => {
    const max = 1_000;
    const { rows } = await countReads(database, async () => {
      await expect(count({}, 'acc_1', max)).rejects.toMatchObject({
        code: 'failed_precondition',
        message: expect.stringContaining('more than 1,000 matches'),
        details: { limit: max },
      });
    });
    expect(rows).toBeLessThanOrEqual(2 * max + 30);
    const fitting = { rule_id: 'rule_120' };
    expect(sum((await count(fitting, 'acc_1', needleMatches)).series.flatMap(({ counts }) => counts))).toBe(
      needleMatches,
    );
    await expect(count(fitting, 'acc_1', needleMatches - 1)).rejects.toMatchObject({
      code: 'failed_precondition',
    });
  });
});

test('a count that takes too long is ended, and says what to request instead', async () => {
  // A statement that never ends, like one that waits for a lock.
  await using other = openTestDatabase(url, 2);
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = other.transaction(async (sql) => {
    await sql.run('lock table match_times in access exclusive mode');
    held.resolve();
    await release.promise;
  });
  await held.promise;
  await expect(count({})).rejects.toMatchObject({ code: 'failed_precondition' });
  release.resolve();
  await holding;
});
