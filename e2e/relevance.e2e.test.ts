import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

/** A server with a judge, and another one of the same installation without it. */
let world: World;
let server: ServerUnderTest;
let account: Account;
let api: Api;
beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer({ EARSHOT_JUDGE_URL: world.sandboxUrl, EARSHOT_JUDGE_MODEL: 'small' });
  account = await world.newAccount();
  api = server.api(account);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const within = { timeoutMs: 60_000 };
const relevance = { judge: true, criteria: ['It is about a launch.'], accept_unproven: true };

test('a rule is judged from its creation, and readers leave out what the judge rejects', async () => {
  await fetch(`${world.sandboxUrl}/sandbox/judge/verdicts`, {
    method: 'POST',
    body: JSON.stringify({ entries: [{ contains: 'launch', verdict: 'relevant' }] }),
  });
  const { rule_id } = await api.createRule({ x: 'rocket' });
  const changed = await api.updateRule(rule_id, { relevance });
  expect(changed.relevance).toEqual({ ...relevance, usd_per_day: null });
  await world.sandbox.posts(['a rocket launch', 'rocket salad', 'the rocket was launched']);
  const request = { rule_id, order: 'oldest', relevance: 'relevant', wait_seconds: 30 };
  await eventually(async () => {
    const { matches, hidden } = await api.matches(request);
    // Posts that are published together may be stored in another order.
    expect(new Set(matches.map(({ payload }) => payload.text))).toEqual(
      new Set(['a rocket launch', 'the rocket was launched']),
    );
    expect(hidden).toEqual({ muted: 0, not_relevant: 1 });
    expect(matches[0]?.relevance).toMatchObject({ verdict: 'relevant', by: 'judge', intent_version: 2 });
  }, within);
  expect(await api.allMatches({ rule_id })).toHaveLength(3);
  const { json } = await api.call('POST', '/api.GetRelevance', { rule_id });
  expect(json).toMatchObject({ judge: 'small', verdicts: { relevant: 2, not_relevant: 1 } });
});

test('without a judge, a rule that relies on it is refused with the reason, and others are not', async () => {
  const without = await world.startServer();
  const { rule_id } = await without.api(account).createRule({ x: 'kettle' });
  const answer = await without.api(account).call('POST', '/api.UpdateRule', { rule_id, relevance });
  expect(answer.status).toBe(400);
  expect(answer.json).toMatchObject({ code: 'failed_precondition', details: { reason: 'not_configured' } });
});
