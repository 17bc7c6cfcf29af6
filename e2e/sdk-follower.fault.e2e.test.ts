import { createEarshot, type FollowedMatches } from '@earshot/sdk';
import { eventually, lengthOf } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

/** `RESTARTS=50` for the whole of it. Every second one is a crash. */
const restarts = Number(process.env['RESTARTS'] ?? lengthOf({ always: 2, nightly: 10 }));
const rewoundBy = 20;

type Fetch = typeof fetch;

interface Follower {
  readonly matches: FollowedMatches;
  /** As the loop got them. */
  readonly ids: string[];
  /** Behind each of them. */
  readonly cursors: string[];
  /** Streams that were opened. */
  opened: number;
  /** Matches that the server sent, repetitions included: what a follower without a look at the ids would give. */
  received: number;
  hadAtRestart: number;
  ended: Promise<unknown>;
}

/** Follows with the SDK; `pretend` may change the place that a connection asks for. */
function startFollower(
  url: string,
  { key }: Account,
  pretend: (cursor: string, follower: Follower) => string | undefined,
  { cursor, signal }: { cursor: string; signal: AbortSignal },
): Follower {
  const changedFetch: Fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const asked = pretend(headers.get('last-event-id') ?? '', follower);
    headers.delete('last-event-id');
    if (asked !== undefined) headers.set('last-event-id', asked);
    const response = await fetch(input, { ...init, headers });
    if (!response.ok || !response.body) return response;
    follower.opened += 1;
    return new Response(response.body.pipeThrough(countMatches(follower)), response);
  };
  const matches = createEarshot({ url, key, fetch: changedFetch }).followMatches({ cursor }, { signal });
  const ids: string[] = [];
  const cursors: string[] = [];
  const run = async () => {
    for await (const { id } of matches) {
      ids.push(id);
      cursors.push(matches.cursor ?? '');
    }
  };
  const follower: Follower = {
    matches,
    ids,
    cursors,
    opened: 0,
    received: 0,
    hadAtRestart: 0,
    ended: Promise.resolve(),
  };
  follower.ended = run().catch((error: unknown) => error);
  return follower;
}

function countMatches(follower: Follower): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      follower.received += lines.filter((line) => line === 'event: match').length;
      controller.enqueue(chunk);
    },
  });
}

/** One comet after the other on both platforms, until told. Returns how many. */
async function sendComets(world: World, signal: AbortSignal): Promise<number> {
  let sent = 0;
  while (!signal.aborted) {
    sent += 1;
    const page = { url: `https://sky.example/${sent}`, title: 'A comet', text: `comet number ${sent}` };
    await world.sandbox.pages([page]);
    await world.sandbox.posts([`comet ${sent}`]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return sent;
}

/** The same address again; every second time without a word of farewell. */
async function restart(world: World, server: ServerUnderTest, turn: number): Promise<ServerUnderTest> {
  await (turn % 2 === 0 ? server.kill() : server.stop());
  return world.startServer({ EARSHOT_PORT: new URL(server.url).port });
}

test('however often the server is restarted under load, a follower gets every match once and in order', {
  timeout: 120_000 + restarts * 30_000,
}, async () => {
  await using world = await startWorld();
  const account = await world.newAccount();
  let server = await world.startServer();
  const { url } = server;
  await server.api(account).createRule({ x: 'comet', firehose: 'comet' });
  const cursor = (await server.api(account).matches({ order: 'oldest' })).next_cursor ?? '';

  const over = new AbortController();
  const from = { cursor, signal: over.signal };
  const follower = startFollower(url, account, (last) => last, from);
  // Asks each time for what it has: only its memory of ids keeps it from giving it again.
  const stuttering = startFollower(url, account, (last, { cursors }) => cursors.at(-rewoundBy) ?? last, from);
  // The control: it never says where it was.
  const forgetful = startFollower(url, account, () => undefined, from);
  const followers = [follower, stuttering, forgetful];

  const enough = new AbortController();
  const load = sendComets(world, enough.signal);
  for (let turn = 0; turn < restarts; turn++) {
    // So that each restart interrupts a stream that was at work.
    for (const resuming of [follower, stuttering]) {
      await eventually(
        () => {
          expect(resuming.opened).toBeGreaterThan(turn);
          expect(resuming.ids.length).toBeGreaterThan(resuming.hadAtRestart + rewoundBy);
        },
        { timeoutMs: 60_000 },
      );
    }
    for (const one of followers) one.hadAtRestart = one.ids.length;
    server = await restart(world, server, turn);
  }
  enough.abort();
  const sent = await load;

  // Firehose is resumed where the log ends, so every page is stored; X has no such promise.
  const log = await eventually(
    async () => {
      const matches = await server.api(account).allMatches();
      expect(matches.filter(({ platform }) => platform === 'firehose')).toHaveLength(sent);
      return matches.map(({ id }) => id);
    },
    { timeoutMs: 60_000 },
  );
  for (const { ids } of [follower, stuttering]) {
    await eventually(() => expect(ids.length).toBeGreaterThanOrEqual(log.length), { timeoutMs: 60_000 });
    expect(ids).toEqual(log);
  }
  over.abort();
  for (const { ended } of followers) expect(await ended).toBe(over.signal.reason);

  expect(forgetful.opened).toBeGreaterThan(1);
  expect(follower.received).toBe(log.length);
  expect(stuttering.received).toBeGreaterThan(log.length);
  expect(forgetful.ids.length).toBeLessThan(log.length);
  console.log(
    `${restarts} restarts, ${log.length} matches, each once; without the memory of ids ${stuttering.received - log.length} doubled, without resuming ${log.length - forgetful.ids.length} missed`,
  );
});
