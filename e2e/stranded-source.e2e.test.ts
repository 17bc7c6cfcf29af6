import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { startWorld, tapToken } from './src/world.ts';

const nextToken = 'fh_next';

test('after a restore to before a token rotation, rules move from the token that no node has', async () => {
  await using world = await startWorld({ sandbox: { taps: [{ token: tapToken }, { token: nextToken }] } });
  const account = await world.newAccount();
  const before = await world.startServer();
  const { rule_id: ruleId } = await before.api(account).createRule({ firehose: 'walnut' });
  await before.stop();
  // The database has the rule on the old source. The nodes have the token of the new one alone.
  const after = await world.startServer({
    EARSHOT_FIREHOSE_TOKENS: `next=${nextToken}`,
    EARSHOT_DRAIN_SOURCES: 'firehose:main',
  });
  const api = after.api(account);
  const within = { timeoutMs: 60_000 };
  await eventually(async () => {
    const { json } = await api.call('POST', '/api.GetRule', { rule_id: ruleId });
    expect(json).toMatchObject({ platforms: { firehose: { listening: { state: 'live' } } } });
  }, within);
  const { json } = await api.call('POST', '/api.ListSources', {});
  const { sources } = operations.ListSources.answer.parse(json);
  expect(sources.map(({ platform, name }) => `${platform}:${name}`)).toEqual(['firehose:next', 'x:main']);
  await world.sandbox.pages([{ url: 'https://nuts.example/1', title: 'walnut', text: 'a walnut' }]);
  await eventually(
    async () =>
      expect((await api.allMatches()).map(({ payload }) => payload.url)).toEqual(['https://nuts.example/1']),
    within,
  );
});
