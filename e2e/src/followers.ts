import { once } from 'node:events';
import { createServer } from 'node:http';
import { type ErrorEnvelope, type Match, operations } from '@earshot/contract';
import { createEarshot, type EarshotError } from '@earshot/sdk';
import { connectSse } from '@earshot/testkit';
import { createApi } from './api.ts';

/** A follower of matches, by any of the ways to read them. */
export interface Follower {
  readonly name: string;
  /** In the order of receipt, repetitions included. */
  readonly matches: Match[];
  /** The details of each `out_of_range`, after which it continued at their `oldest_cursor`. */
  readonly outOfRange: Array<Partial<ErrorEnvelope['details']>>;
  /** How often it lost its connection, or got no answer. */
  readonly failures: () => number;
  readonly stopped: Promise<void>;
}

export interface FollowOptions {
  /** The address of the node to call next. */
  readonly url: () => string;
  readonly key: string;
  /** The cursor to begin at. */
  readonly start: string;
  readonly signal: AbortSignal;
}

const shortly = () => new Promise((resolve) => setTimeout(resolve, 100));

/** The details of an `out_of_range`, else undefined. */
function detailsOf(answer: unknown): ErrorEnvelope['details'] | undefined {
  const { code, details } = Object(answer) as Partial<ErrorEnvelope>;
  return code === 'out_of_range' ? details : undefined;
}

/** Counts as a failure: everything except an answer or `out_of_range`. */
async function ask({ url, key }: FollowOptions, path: string, body: object): Promise<unknown> {
  const answer = await createApi(url(), key)
    .call('POST', path, body)
    .catch(() => null);
  return answer?.json;
}

export function followByStream({ url, key, start, signal }: FollowOptions): Follower {
  const matches: Match[] = [];
  const outOfRange: Follower['outOfRange'] = [];
  let connections = 0;
  let lastEventId = start;
  const connectOnce = async () => {
    connections += 1;
    const connection = connectSse(new URL('/matches/stream', url()), {
      headers: { authorization: `Bearer ${key}`, 'last-event-id': lastEventId },
      onEvent: ({ id, event, data }) => {
        lastEventId = id;
        if (event === 'match') matches.push(JSON.parse(data));
      },
    });
    const cut = () => connection.cut();
    signal.addEventListener('abort', cut);
    await connection.closed;
    signal.removeEventListener('abort', cut);
    const { body } = await connection.opened.catch(() => ({ body: '' }));
    const details = detailsOf(body === '' ? null : JSON.parse(body));
    if (!details) return;
    outOfRange.push(details);
    lastEventId = String(details['oldest_cursor']);
  };
  const run = async () => {
    while (!signal.aborted) {
      await connectOnce();
      await shortly();
    }
  };
  return { name: 'stream', matches, outOfRange, failures: () => connections - 1, stopped: run() };
}

export function followByLongPoll(options: FollowOptions): Follower {
  const { start, signal } = options;
  const matches: Match[] = [];
  const outOfRange: Follower['outOfRange'] = [];
  let failures = 0;
  let cursor = start;
  const run = async () => {
    while (!signal.aborted) {
      const answer = await ask(options, '/matches', { order: 'oldest', cursor, wait_seconds: 1, limit: 100 });
      const details = detailsOf(answer);
      if (details) {
        outOfRange.push(details);
        cursor = String(details['oldest_cursor']);
        continue;
      }
      const page = operations.ListMatches.answer.safeParse(answer);
      if (page.success) {
        matches.push(...page.data.matches);
        cursor = page.data.next_cursor ?? cursor;
      } else {
        failures += 1;
        await shortly();
      }
    }
  };
  return { name: 'long poll', matches, outOfRange, failures: () => failures, stopped: run() };
}

/** A named reader; it begins at the beginning of the log. */
export function followByName(options: Omit<FollowOptions, 'start'>): Follower {
  const target = { start: '', ...options };
  const matches: Match[] = [];
  const outOfRange: Follower['outOfRange'] = [];
  let failures = 0;
  const acknowledge = async (cursor: string) => {
    const details = detailsOf(await ask(target, '/api.AckMatches', { reader: 'follower', cursor }));
    if (details) outOfRange.push(details);
  };
  const run = async () => {
    while (!options.signal.aborted) {
      const request = { reader: 'follower', start: 'oldest', wait_seconds: 1, limit: 100 };
      const answer = await ask(target, '/api.ReadMatches', request);
      const details = detailsOf(answer);
      if (details) {
        outOfRange.push(details);
        await acknowledge(String(details['oldest_cursor']));
        continue;
      }
      const page = operations.ReadMatches.answer.safeParse(answer);
      if (!page.success) {
        failures += 1;
        await shortly();
        continue;
      }
      matches.push(...page.data.matches);
      if (page.data.cursor !== null) await acknowledge(page.data.cursor);
    }
  };
  return { name: 'named reader', matches, outOfRange, failures: () => failures, stopped: run() };
}

/** The SDK's follower: it reconnects automatically, and fails only when it cannot continue. */
export function followBySdk({ url, key, start, signal }: FollowOptions): Follower {
  const matches: Match[] = [];
  const outOfRange: Follower['outOfRange'] = [];
  const onRestored = ({ details }: EarshotError) => void outOfRange.push(details);
  const followed = createEarshot({ url: url(), key }).followMatches(
    { cursor: start },
    { signal, onRestored },
  );
  const run = async () => {
    try {
      for await (const match of followed) matches.push(match);
    } catch (error) {
      if (error !== signal.reason) throw error;
    }
  };
  const stopped = run();
  // A caller that awaits `stopped` gets the error.
  stopped.catch(() => undefined);
  return { name: 'SDK', matches, outOfRange, failures: () => 0, stopped };
}

/** An endpoint for a webhook of the account. */
export async function followByWebhook(options: Omit<FollowOptions, 'start'>): Promise<Follower> {
  const matches: Match[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      matches.push(...JSON.parse(Buffer.concat(chunks).toString()).matches);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  const url = `http://127.0.0.1:${address.port}/`;
  const created = await ask({ start: '', ...options }, '/api.CreateWebhook', { name: 'follower', url });
  operations.CreateWebhook.answer.parse(created);
  const stopped = once(options.signal, 'abort').then(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { name: 'webhook', matches, outOfRange: [], failures: () => 0, stopped };
}
