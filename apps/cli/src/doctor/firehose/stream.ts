import type { Stream } from '../http.ts';
import { textAt } from '../json.ts';
import { type Bench, notSeen, type Observation, type Step, seen } from '../step.ts';
import { framesOf, hasEnded } from './frames.ts';
import { createTapRule } from './rules.ts';

/** Long enough for two streams at the same time. */
const timeoutSeconds = 30;
/** After its timeout a stream may take a while to end. */
const endWithinMs = (timeoutSeconds + 20) * 1_000;
/** A tap allows 30 connections a minute. */
const breathMs = 2_500;
const headers = { accept: 'text/event-stream', 'cache-control': 'no-cache' };

export const f2: Step = {
  id: 'F2',
  about: 'streams of a rule that matches nothing',
  calls: 'GET /v1/stream up to eight times, POST and DELETE /v1/rules',
  usdMax: 0,
  makesRules: true,
  opensStream: true,
  async *run(bench) {
    yield await seeWithoutRules(bench);
    const { id } = await createTapRule(bench, `title:"${bench.word}"`);
    if (id === null) throw new Error('The rule was not created.');
    yield* await seeQuiet(bench);
    yield await seeRanges(bench);
    yield await seeCursor(bench, 'F-18', 'no-cursor');
    yield await seeCursor(bench, 'F-17', '0-1');
  },
};

export async function openTap(
  { http, pause, throwIfStopped }: Bench,
  query: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  await pause(breathMs);
  throwIfStopped();
  return http.open(`/v1/stream?${query}`, { ...headers, ...more });
}

async function seeWithoutRules(bench: Bench): Promise<Observation> {
  const stream = await openTap(bench, `timeout=${timeoutSeconds}`);
  await stream.waitFor(hasEnded, bench.realMs(endWithinMs));
  stream.close();
  const error = framesOf(stream.text()).find(({ event }) => event === 'error');
  const isNamed = textAt(error?.data, 'message')?.startsWith('No rules configured') === true;
  const words =
    error === undefined ? `${stream.status} without an error` : isNamed ? 'as expected' : 'other words';
  return seen('F-43', stream.status === 200 && isNamed, words);
}

/** Opens two streams at once and reads both to the end. */
async function seeQuiet(bench: Bench): Promise<Observation[]> {
  await bench.pause(breathMs);
  const path = `/v1/stream?timeout=${timeoutSeconds}`;
  const [first, second] = await Promise.all([bench.http.open(path, headers), bench.http.open(path, headers)]);
  const isBoth = first.status === 200 && second.status === 200;
  await first.waitFor(hasEnded, bench.realMs(endWithinMs));
  await second.waitFor(hasEnded, bench.realMs(endWithinMs));
  bench.throwIfStopped();
  first.close();
  second.close();
  const opened = first.status === 200 ? first : second;
  const names = framesOf(opened.text()).map(({ event }) => event || 'a comment');
  return [
    seen('F-21', isBoth, isBoth ? 'two are open' : `${first.status} and ${second.status}`),
    seen('F-19', names.join() === 'connected,end', names.join(', ') || `nothing, ${opened.status}`),
  ];
}

async function seeRanges(bench: Bench): Promise<Observation> {
  const statuses: string[] = [];
  // Replayed pages may be billed.
  const parameters = ['limit=0', 'timeout=0', ...(bench.isTapIdle ? ['since=25h'] : [])];
  for (const parameter of parameters) {
    const query = parameter.startsWith('timeout') ? parameter : `timeout=1&${parameter}`;
    const stream = await openTap(bench, query);
    stream.close();
    statuses.push(`${parameter} ${stream.status}`);
  }
  return seen(
    'F-15',
    statuses.every((words) => words.endsWith(' 422')),
    statuses.join(', '),
  );
}

async function seeCursor(bench: Bench, number: 'F-17' | 'F-18', id: string): Promise<Observation> {
  if (!bench.isTapIdle) return notSeen(number, 'stored pages would be billed; needs --idle-tap');
  const stream = await openTap(bench, 'timeout=1&limit=1', { 'last-event-id': id });
  await stream.waitFor(hasEnded, bench.realMs(endWithinMs));
  stream.close();
  if (stream.status === 429 || stream.status >= 500) return notSeen(number, String(stream.status));
  return seen(
    number,
    stream.status === 200,
    stream.status === 200 ? 'taken' : `refused with ${stream.status}`,
  );
}
