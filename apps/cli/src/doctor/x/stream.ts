import type { Stream } from '../http.ts';
import { listAt, textAt } from '../json.ts';
import { type Bench, notSeen, type Observation, type Step, seen } from '../step.ts';
import { addedRules, addRules, deleteRules, problemWords, ruleDelayMs } from './rules.ts';

export const streamPath = '/2/tweets/search/stream';
export const connectionsPath = '/2/connections?status=active&endpoints=filtered_stream&max_results=100';
/** The field names that Earshot uses. */
const tweetWords = 'tweet.fields=created_at,entities,note_tweet,referenced_tweets&expansions=author_id';

const listenMs = 90_000;
const silenceMaxMs = 30_000;
/** Between two attempts to connect. */
const breathMs = 5_000;

export const x4: Step = {
  id: 'X4',
  about: 'the stream of a rule that matches nothing, for about three minutes',
  calls: 'GET stream up to eight times, POST rules twice, GET and DELETE connections',
  usdMax: 0,
  makesRules: true,
  opensStream: true,
  async *run(bench) {
    yield await seeWithoutRules(bench);
    const added = await addRules(bench, [{ value: `${bench.word} stream`, tag: bench.nextTag() }]);
    const id = addedRules(added)[0]?.id;
    if (id === undefined) throw new Error(`The rule was not added: ${problemWords(added)}`);
    await bench.pause(ruleDelayMs);
    yield await seeBackfill(bench);
    const opened = await openInOurWords(bench);
    yield* opened.seen;
    const second = await seeSecond(bench, opened.stream);
    yield second.seen;
    yield await seeConnections(bench);
    yield await seeKeepAlive(bench, second.stream);
    const released = await seeRelease(bench, second.stream);
    yield released.seen;
    yield await seeIdle(bench, released.stream, id);
  },
};

async function open({ http, throwIfStopped, pause }: Bench, query = tweetWords): Promise<Stream> {
  await pause(breathMs);
  throwIfStopped();
  return http.open(`${streamPath}?${query}`);
}

async function seeWithoutRules(bench: Bench): Promise<Observation> {
  const stream = await open(bench, '');
  stream.close();
  const isExpected =
    stream.status === 409 && textAt(stream.body, 'connection_issue') === 'RuleConfigurationIssue';
  return seen('X-53', isExpected, stream.status === 200 ? 'opened' : problemWords(stream));
}

async function seeBackfill(bench: Bench): Promise<Observation> {
  if (bench.isEnterprise) return notSeen('X-14', 'the plan has it');
  const stream = await open(bench, 'backfill_minutes=1');
  stream.close();
  return seen('X-14', stream.status === 400, stream.status === 200 ? 'opened' : problemWords(stream));
}

async function openInOurWords(bench: Bench): Promise<{ stream: Stream; seen: Observation[] }> {
  const first = await open(bench);
  const stream = first.status === 400 ? await open(bench, '') : first;
  if (stream.status !== 200) throw new Error(`The stream did not open: ${problemWords(stream)}`);
  const encoding = stream.headers['content-encoding'] ?? 'identity';
  return {
    stream,
    seen: [
      seen('X-46', first.status === 200, first.status === 200 ? 'taken' : problemWords(first)),
      seen('X-18', encoding === 'identity', encoding),
    ],
  };
}

/** Continues with the second stream if X closed the first. */
async function seeSecond(bench: Bench, first: Stream): Promise<{ stream: Stream; seen: Observation }> {
  const second = await open(bench, '');
  if (second.status !== 200) {
    const isExpected =
      second.status === 429 && textAt(second.body, 'connection_issue') === 'TooManyConnections';
    return { stream: first, seen: seen('X-7', isExpected && first.isOpen(), problemWords(second)) };
  }
  // X may need a moment to close the first.
  await first.waitFor(() => !first.isOpen(), bench.realMs(breathMs));
  const isFirstOpen = first.isOpen();
  if (isFirstOpen) second.close();
  return {
    stream: isFirstOpen ? first : second,
    seen: seen('X-7', false, isFirstOpen ? 'both are open' : 'it took the place of the first'),
  };
}

async function seeConnections({ http, throwIfStopped }: Bench): Promise<Observation> {
  throwIfStopped();
  const answer = await http.call('GET', connectionsPath);
  const count = listAt(answer.body, 'data').length;
  return seen('X-50', count > 0, answer.status === 200 ? `${count} listed` : problemWords(answer));
}

/** Counts the keep-alives in a period, so that a single late one does not matter. */
async function seeKeepAlive(bench: Bench, stream: Stream): Promise<Observation> {
  const lines = () => stream.text().split('\n').length - 1;
  const before = lines();
  const needed = listenMs / silenceMaxMs;
  const isAlive = await stream.waitFor(() => lines() - before >= needed, bench.realMs(listenMs));
  bench.throwIfStopped();
  if (isAlive) return seen('X-25', true, 'keep-alives as expected');
  return seen('X-25', false, stream.isOpen() ? 'too few keep-alives' : 'the stream was closed');
}

/** Simulates a process that dies, and its successor that connects. */
async function seeRelease(bench: Bench, stream: Stream): Promise<{ stream: Stream; seen: Observation }> {
  const { http, throwIfStopped, pause } = bench;
  stream.close();
  throwIfStopped();
  const atOnce = await http.open(`${streamPath}?`);
  if (atOnce.status === 200) return { stream: atOnce, seen: seen('X-8', true, 'free at once') };
  const listed = await http.call('GET', connectionsPath);
  const uuids = listAt(listed.body, 'data').flatMap((connection) => textAt(connection, 'id') ?? []);
  if (uuids.length > 0) await http.call('DELETE', '/2/connections', { body: { uuids } });
  await pause(breathMs);
  const later = await open(bench, '');
  const words = later.status === 200 ? 'free after a kill' : `still ${problemWords(later)}`;
  return { stream: later, seen: seen('X-8', later.status === 200, words) };
}

async function seeIdle(bench: Bench, stream: Stream, id: string): Promise<Observation> {
  if (!stream.isOpen()) return notSeen('X-9', 'there was no stream left');
  await deleteRules(bench, [id]);
  const isClosed = await stream.waitFor(() => !stream.isOpen(), bench.realMs(listenMs / 2));
  bench.throwIfStopped();
  const isOpen = !isClosed && stream.isOpen();
  stream.close();
  return seen('X-9', isOpen, isOpen ? 'stays open' : 'is closed');
}
