import { eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { type Follower, followByLongPoll, followByName, followByStream } from './src/followers.ts';
import { type ServerUnderTest, startWorld } from './src/world.ts';

/** The nodes as behind a load balancer: each reconnect reaches another node than the last time. */
interface Nodes {
  all: ServerUnderTest[];
  turn: number;
}

function next(nodes: Nodes): ServerUnderTest {
  const node = nodes.all[nodes.turn++ % nodes.all.length];
  if (!node) throw new Error('there is no node');
  return node;
}

test('while two nodes are replaced one after the other under load, no reader misses a match', async () => {
  await using world = await startWorld();
  const account = await world.newAccount();
  const env = { EARSHOT_TEST: 'streamsPerKeyMax=20' };
  const nodes: Nodes = { all: [await world.startServer(env), await world.startServer(env)], turn: 0 };
  await next(nodes).api(account).createRule({ x: 'comet', firehose: 'comet' });
  const start = (await next(nodes).api(account).matches({ order: 'oldest' })).next_cursor ?? '';

  const over = new AbortController();
  const options = { url: () => next(nodes).url, key: account.key, start, signal: over.signal };
  const readers = [
    ...[1, 2, 3].map(() => followByStream(options)),
    ...[1, 2].map(() => followByLongPoll(options)),
    followByName(options),
  ];
  let injected = 0;
  const loaded = new AbortController();
  const load = (async () => {
    while (!loaded.signal.aborted) {
      injected += 1;
      const page = {
        url: `https://sky.example/${injected}`,
        title: 'A comet',
        text: `comet number ${injected}`,
      };
      await world.sandbox.pages([page]);
      await world.sandbox.posts([`comet ${injected}`]);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();

  for (let turn = 0; turn < 2; turn++) {
    const [leaving, staying] = nodes.all;
    if (!leaving || !staying) throw new Error('there are two nodes');
    await leaving.stop();
    nodes.all = [staying, await world.startServer(env)];
  }
  loaded.abort();
  await load;
  const api = next(nodes).api(account);
  // Firehose is resumed at the end of the log, so every page is stored; X has no replay.
  const log = await eventually(
    async () => {
      const matches = await api.allMatches();
      expect(matches.filter(({ platform }) => platform === 'firehose')).toHaveLength(injected);
      return matches.map(({ id }) => id);
    },
    { timeoutMs: 60_000 },
  );
  const idsOf = ({ matches }: Follower) => matches.map(({ id }) => id);
  for (const reader of readers) {
    await eventually(() => expect([...new Set(idsOf(reader))]).toEqual(log), { timeoutMs: 30_000 });
  }
  over.abort();
  await Promise.all(readers.map(({ stopped }) => stopped));
  // Both stopped nodes ended their streams, and no match was repeated even without deduplication by id.
  for (const stream of readers.slice(0, 3)) {
    expect(stream.failures()).toBeGreaterThanOrEqual(1);
    expect(idsOf(stream)).toEqual(log);
  }
});
