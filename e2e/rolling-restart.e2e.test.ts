import { operations } from '@earshot/contract';
import { connectSse, eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { type Account, type ServerUnderTest, startWorld } from './src/world.ts';

/** The nodes as a load balancer sees them: whoever comes back gets another one than the last time. */
interface Nodes {
  all: ServerUnderTest[];
  turn: number;
}

interface Reader {
  /** In the order of receipt, repetitions included. */
  readonly ids: string[];
  readonly reconnects: () => number;
  readonly stopped: Promise<void>;
}

function next(nodes: Nodes): ServerUnderTest {
  const node = nodes.all[nodes.turn++ % nodes.all.length];
  if (!node) throw new Error('there is no node');
  return node;
}

const shortly = () => new Promise((resolve) => setTimeout(resolve, 100));

function followByStream(nodes: Nodes, { key }: Account, start: string, isOver: () => boolean): Reader {
  const ids: string[] = [];
  let reconnects = -1;
  let lastEventId = start;
  const run = async () => {
    while (!isOver()) {
      reconnects += 1;
      const connection = connectSse(new URL('/matches/stream', next(nodes).url), {
        headers: { authorization: `Bearer ${key}`, 'last-event-id': lastEventId },
        onEvent: ({ id, event, data }) => {
          lastEventId = id;
          if (event === 'match') ids.push(String(JSON.parse(data).id));
        },
      });
      const timer = setInterval(() => isOver() && connection.cut(), 50);
      await connection.closed;
      clearInterval(timer);
      await shortly();
    }
  };
  return { ids, reconnects: () => reconnects, stopped: run() };
}

function followByLongPoll(nodes: Nodes, account: Account, start: string, isOver: () => boolean): Reader {
  const ids: string[] = [];
  let failures = 0;
  let cursor = start;
  const run = async () => {
    while (!isOver()) {
      const request = { order: 'oldest', cursor, wait_seconds: 1, limit: 100 };
      const page = await next(nodes)
        .api(account)
        .matches(request)
        .catch(() => null);
      if (!page) failures += 1;
      if (!page) await shortly();
      ids.push(...(page?.matches.map(({ id }) => id) ?? []));
      cursor = page?.next_cursor ?? cursor;
    }
  };
  return { ids, reconnects: () => failures, stopped: run() };
}

function followByName(nodes: Nodes, account: Account, isOver: () => boolean): Reader {
  const ids: string[] = [];
  let failures = 0;
  const ask = async (path: string, body: object) =>
    (
      await next(nodes)
        .api(account)
        .call('POST', path, body)
        .catch(() => null)
    )?.json;
  const run = async () => {
    while (!isOver()) {
      const page = operations.ReadMatches.answer.safeParse(
        await ask('/api.ReadMatches', { reader: 'roll', wait_seconds: 1, limit: 100 }),
      );
      if (!page.success) failures += 1;
      ids.push(...(page.data?.matches.map(({ id }) => id) ?? []));
      if (page.data?.cursor) await ask('/api.AckMatches', { reader: 'roll', cursor: page.data.cursor });
      else if (!page.success) await shortly();
    }
  };
  return { ids, reconnects: () => failures, stopped: run() };
}

test('while two nodes are replaced one after the other under load, no reader misses a match', async () => {
  await using world = await startWorld();
  const account = await world.newAccount();
  const env = { EARSHOT_STREAMS_PER_KEY_MAX: '20' };
  const nodes: Nodes = { all: [await world.startServer(env), await world.startServer(env)], turn: 0 };
  await next(nodes).api(account).createRule({ x: 'comet', firehose: 'comet' });
  const start = (await next(nodes).api(account).matches({ order: 'oldest' })).next_cursor ?? '';

  let over = false;
  const isOver = () => over;
  const readers = [
    ...[1, 2, 3].map(() => followByStream(nodes, account, start, isOver)),
    ...[1, 2].map(() => followByLongPoll(nodes, account, start, isOver)),
    followByName(nodes, account, isOver),
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
  // Firehose is resumed where the log ends, so every page is stored; X has no such promise.
  const log = await eventually(
    async () => {
      const matches = await api.allMatches();
      expect(matches.filter(({ platform }) => platform === 'firehose')).toHaveLength(injected);
      return matches.map(({ id }) => id);
    },
    { timeoutMs: 60_000 },
  );
  const firstSight = ({ ids }: Reader) => [...new Set(ids)];
  for (const reader of readers) {
    await eventually(() => expect(firstSight(reader)).toEqual(log), { timeoutMs: 30_000 });
  }
  over = true;
  await Promise.all(readers.map(({ stopped }) => stopped));
  // The streams were ended by both nodes that left, and nothing came twice even without a look at the ids.
  for (const stream of readers.slice(0, 3)) {
    expect(stream.reconnects()).toBeGreaterThanOrEqual(1);
    expect(stream.ids).toEqual(log);
  }
});
