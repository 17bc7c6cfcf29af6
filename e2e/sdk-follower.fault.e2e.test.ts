import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createEarshot, type FollowedMatches } from '@earshot/sdk';
import { eventually, lengthOf } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { missingPython, python } from '../packages/testkit/src/debian-python.ts';
import { skipUnless } from '../packages/testkit/src/vitest-skips.ts';
import { repository } from './src/demo-process.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

/** `RESTARTS=50` for the full test. Every second restart is a crash. */
const restarts = Number(process.env['RESTARTS'] ?? lengthOf({ always: 2, nightly: 10 }));
const rewoundBy = 20;

type Fetch = typeof fetch;

interface Follower {
  readonly matches: FollowedMatches;
  /** The ids in the order in which the loop received them. */
  readonly ids: string[];
  /** The cursor of each match. */
  readonly cursors: string[];
  /** Streams that were opened. */
  opened: number;
  /** Matches that the server sent, with repetitions: what a follower without deduplication by id would yield. */
  received: number;
  hadAtRestart: number;
  ended: Promise<unknown>;
}

/** Follows with the SDK; `pretend` may change the position that a connection resumes at. */
function startFollower(
  url: string,
  { key }: Account,
  pretend: (cursor: string, follower: Follower) => string | undefined,
  { cursor, signal }: { cursor: string; signal: AbortSignal },
): Follower {
  const changedFetch: Fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const resumeAt = pretend(headers.get('last-event-id') ?? '', follower);
    headers.delete('last-event-id');
    if (resumeAt !== undefined) headers.set('last-event-id', resumeAt);
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

const pythonFollower = `import sys
from earshot import Earshot
for match in Earshot(url=sys.argv[1], key=sys.argv[2]).follow_matches(cursor=sys.argv[3]):
    print(match["id"], flush=True)
`;

/** Follows with the Python SDK, in its own process. */
function startPythonFollower(url: string, { key }: Account, cursor: string) {
  const env = { PYTHONPATH: join(repository, 'sdks/python/src') };
  const program = execFile(python, ['-c', pythonFollower, url, key, cursor], { env });
  let printed = '';
  program.stdout?.on('data', (piece: string) => (printed += piece));
  program.stderr?.pipe(process.stderr);
  return {
    ids: () => printed.split('\n').slice(0, -1),
    async [Symbol.asyncDispose]() {
      if (program.exitCode !== null) return;
      program.kill();
      await once(program, 'close');
    },
  };
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

/** Sends one comet after the other on both platforms, until it is stopped. Returns how many. */
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

/** Restarts the server on the same address; every second time by SIGKILL. */
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
  // Each time requests matches that it has already: only its memory of ids keeps it from yielding them again.
  const stuttering = startFollower(url, account, (last, { cursors }) => cursors.at(-rewoundBy) ?? last, from);
  // The control: it never resumes.
  const forgetful = startFollower(url, account, () => undefined, from);
  const followers = [follower, stuttering, forgetful];
  const { skip } = skipUnless('python', missingPython(['httpx'], 'python3-httpx'));
  let hadInPython = 0;
  await using inPython = skip ? undefined : startPythonFollower(url, account, cursor);

  const enough = new AbortController();
  const load = sendComets(world, enough.signal);
  for (let turn = 0; turn < restarts; turn++) {
    // Ensures that each restart interrupts an active stream.
    for (const resuming of [follower, stuttering]) {
      await eventually(
        () => {
          expect(resuming.opened).toBeGreaterThan(turn);
          expect(resuming.ids.length).toBeGreaterThan(resuming.hadAtRestart + rewoundBy);
        },
        { timeoutMs: 60_000 },
      );
    }
    if (inPython)
      await eventually(() => expect(inPython.ids().length).toBeGreaterThan(hadInPython), {
        timeoutMs: 60_000,
      });
    for (const one of followers) one.hadAtRestart = one.ids.length;
    hadInPython = inPython?.ids().length ?? 0;
    server = await restart(world, server, turn);
  }
  enough.abort();
  const sent = await load;

  // Firehose is resumed at the end of the log, so every page is stored; X has no replay.
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
  if (inPython) await eventually(() => expect(inPython.ids()).toEqual(log), { timeoutMs: 60_000 });
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
