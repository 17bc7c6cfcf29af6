import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createParsedRules } from '../src/language/explain-match.ts';
import { getMatch } from '../src/readers/get-match.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import { matchIdOf } from '../src/runtime/ids.ts';
import { callOf } from './call-of.ts';
import { type PreviewWorld, startPreviewWorld } from './preview-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
let world: PreviewWorld;
beforeAll(async () => {
  template = await createMigratedTemplate();
  world = await startPreviewWorld(template);
  await world.setValue('rule_1', 'aurora');
  await world.store([
    { text: 'an old aurora', rules: ['rule_1', 'rule_2'], hoursAgo: 70 },
    { text: 'the aurora of others', rules: ['other_1'], hoursAgo: 50 },
    { text: 'a new aurora', rules: ['rule_1'], hoursAgo: 1 },
  ]);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await template?.[Symbol.asyncDispose]();
});

const get = (matchId: string, accountId = 'acc_1') =>
  getMatch({
    reader: createMatchReader(world.database),
    parsedRules: createParsedRules(),
    views: createViews({ database: world.database, hasJudge: false }),
  })(callOf('GetMatch', { match_id: matchId }, accountId));

async function idOf(ruleId: string, order: 'asc' | 'desc' = 'asc'): Promise<string> {
  const row = await world.database.one<{ position: number }>(
    `select position from matches where rule_id = $1 order by position ${order} limit 1`,
    [ruleId],
  );
  return matchIdOf(row?.position ?? 0);
}

test('a match has its payload and the reason, however old it is', async () => {
  const id = await idOf('rule_1');
  expect(await get(id)).toMatchObject({
    id,
    rule_id: 'rule_1',
    payload: { text: 'an old aurora' },
    why: { verdict: 'match', evidence: [{ field: 'keyword', text: 'aurora' }] },
  });
  expect(await get(await idOf('rule_1', 'desc'))).toMatchObject({ payload: { text: 'a new aurora' } });
});

test("another account's match, a removed one and an unknown id are answered in the same way", async () => {
  const removed = await idOf('rule_2');
  await world.database.run(`delete from matches where rule_id = 'rule_2'`);
  const refused = await Promise.all(
    [await idOf('other_1'), removed, matchIdOf(999_999), matchIdOf(0), 'mat_x', 'rule_1'].map((id) =>
      get(id).catch((error: unknown) => error),
    ),
  );
  for (const error of refused) expect(error).toMatchObject({ code: 'not_found' });
  expect(new Set(refused.map(String)).size).toBe(1);
});
