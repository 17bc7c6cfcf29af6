import { migratedTemplate } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import type { MatchQuery } from '../src/readers/match-days.sql.ts';
import { createMatchReader, type MatchPage } from '../src/readers/match-reader.sql.ts';
import { createNextPages } from '../src/readers/next-pages.sql.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules } from './support.ts';

type NextQuery = Pick<MatchQuery, 'accountId' | 'ruleIds' | 'platform' | 'from' | 'limit'>;

const dayBefore = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const accountId = 'acc_1';

test('many readers get with one statement what each of them gets alone, page by page', async () => {
  await using clone = await migratedTemplate().clone();
  await using database = openTestDatabase(clone.url, 4);
  await seedRules(database, 4);
  const store = createMatchStore(database);
  for (let n = 0; n < 60; n += 3) {
    const day = n % 4 === 0 ? { day: dayBefore } : {};
    const events = [xEvent(n, day), xEvent(n + 1), xEvent(n + 2, { platform: 'firehose' })];
    // Two of these do not fit into a page.
    const [first] = events;
    if (n % 24 === 0 && first) first.payload.raw = { filler: 'x'.repeat(200_000) };
    const ofRule = (rule: number) => events.map((event) => xMatch(event, `rule_${rule}`));
    await store.write(events, [...ofRule(1 + (n % 2)), ...ofRule(3)], [], []);
  }
  const reader = createMatchReader(database);
  let alone = 0;
  const counting = {
    read: (query: MatchQuery) => {
      alone += 1;
      return reader.read(query);
    },
  };
  const nextPage = createNextPages(database, counting);

  /** The matches of all pages. A page that ends with `more: false` is the last. */
  async function readAll(
    query: NextQuery,
    read: (query: NextQuery) => Promise<MatchPage>,
  ): Promise<string[]> {
    const found: string[] = [];
    for (let from: number | null = query.from; ; ) {
      const { matches, removals, more } = await read({ ...query, from });
      const entries = [...matches, ...removals].toSorted((one, other) => one.position - other.position);
      found.push(...entries.map((one) => JSON.stringify(one)));
      from = entries.at(-1)?.position ?? from;
      if (!more) return found;
    }
  }
  const readAlone = (query: NextQuery) =>
    reader.read({ ...query, order: 'oldest', since: null, until: null });

  const queries: NextQuery[] = [];
  for (const ruleIds of [null, ['rule_1'], ['rule_2'], ['rule_3'], ['rule_4']])
    for (const platform of [null, 'x', 'firehose'] as const)
      for (const [from, limit] of [
        [null, 7],
        [20, 100],
        [10_000, 10],
      ] as const)
        queries.push({ accountId, ruleIds, platform, from, limit });
  queries.push({ accountId: 'acc_unknown', ruleIds: null, platform: null, from: null, limit: 10 });
  const compare = async (some: readonly NextQuery[]) => {
    const together = await Promise.all(some.map((query) => readAll(query, nextPage)));
    for (const [nth, query] of some.entries())
      expect({ query, found: together[nth] }).toEqual({ query, found: await readAll(query, readAlone) });
    return together.flat().length;
  };

  expect(await compare(queries)).toBeGreaterThan(500);
  expect(alone).toBe(0);

  // What the statement does not cover is read alone.
  await compare([{ accountId, ruleIds: ['rule_1', 'rule_3'], platform: null, from: null, limit: 10 }]);
  expect(alone).toBeGreaterThan(0);
  await database.run(`update rules set state = 'deleted' where id = 'rule_3'`);
  await compare(queries);
  await database.run(
    `insert into removals (position, match_position, account_id, rule_id, platform, reason, created_at)
     select last_position + 1, 1, 'acc_1', 'rule_1', 'x', 'deleted', now() from match_log`,
  );
  await compare(queries);
});
