import { eventually } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { startWorld, tapToken, xToken } from './src/world.ts';

const secondX = 'second-x-token';
const secondTap = 'fh_second';

describe('two nodes with two credentials per platform', () => {
  test('rules spread over the credentials, and what one node leaves the other takes up', async () => {
    await using world = await startWorld({
      sandbox: {
        xApps: [{ token: xToken }, { token: secondX }],
        taps: [{ token: tapToken }, { token: secondTap }],
      },
    });
    const account = await world.newAccount();
    const env = {
      EARSHOT_X_TOKENS: `main=${xToken},second=${secondX}`,
      EARSHOT_FIREHOSE_TOKENS: `main=${tapToken},second=${secondTap}`,
    };
    const first = await world.startServer(env);
    const second = await world.startServer(env);
    for (const word of ['ash', 'birch', 'cedar', 'damson']) {
      await first.api(account).createRule({ x: word, firehose: word });
    }
    expect((await world.sandbox.xState(xToken)).rules).toHaveLength(2);
    expect((await world.sandbox.xState(secondX)).rules).toHaveLength(2);
    expect((await world.sandbox.firehoseState(tapToken)).rules).toHaveLength(2);
    expect((await world.sandbox.firehoseState(secondTap)).rules).toHaveLength(2);

    await first.kill();
    const api = second.api(account);
    await eventually(
      async () => {
        expect((await world.sandbox.xState(xToken)).connections.open).toBe(1);
        expect((await world.sandbox.xState(secondX)).connections.open).toBe(1);
      },
      { timeoutMs: 20_000 },
    );
    await world.sandbox.posts(['an ash', 'a birch', 'a cedar', 'a damson']);
    await world.sandbox.pages([
      { url: 'https://wood.example/', title: 'Trees', text: 'ash birch cedar damson' },
    ]);
    // The page matches two rules on each tap: one event for each tap, one post, four matches.
    await eventually(async () => expect(await api.allMatches()).toHaveLength(8), { timeoutMs: 20_000 });
    const { rules } = await api.listRules();
    for (const rule of rules) await api.deleteRule(rule.id);
    await eventually(
      async () => {
        expect((await world.sandbox.xState(secondX)).rules).toEqual([]);
        expect((await world.sandbox.firehoseState(tapToken)).rules).toEqual([]);
      },
      { timeoutMs: 20_000 },
    );
  });
});
