import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createUpstreamClient, type UpstreamClient } from './client.ts';
import { createFirehoseRules } from './firehose/rules.ts';
import { createFirehoseStream } from './firehose/stream.ts';
import { createXCompliance } from './x/compliance.ts';
import { createXRules } from './x/rules.ts';
import { createXSearch } from './x/search.ts';
import { xExpansions, xSearches } from './x/settings.ts';
import { createEndStaleConnections, createXRecovery, createXStream } from './x/stream.ts';

interface RecordedRequest {
  readonly call: string;
  readonly query: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body: readonly string[];
  readonly headers: readonly string[];
}

interface DescribedCall {
  readonly call: string;
  readonly query: Readonly<Record<string, readonly string[] | null | undefined>>;
  readonly body?: readonly string[];
  readonly headers?: readonly string[];
}

interface Description {
  readonly of: string;
  readonly read_on: string;
  readonly calls: readonly DescribedCall[];
}

const file = new URL('../../test/upstream-words.json', import.meta.url);
const described: readonly Description[] = JSON.parse(readFileSync(file, 'utf8'));
const calls = described.flatMap((source) => source.calls);
/** Headers of HTTP, not of a platform. */
const usualHeaders = [
  'host',
  'connection',
  'authorization',
  'user-agent',
  'accept-encoding',
  'content-type',
  'content-length',
];

/** Problems of a request, according to the description that fits it best. */
function unknownIn(request: RecordedRequest): string[] {
  const candidates = calls.filter(({ call }) => matches(call, request.call));
  if (candidates.length === 0) return [request.call];
  const findings = candidates.map((candidate) => unknownBy(candidate, request));
  return findings.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

function matches(pattern: string, call: string): boolean {
  return new RegExp(`^${pattern.replaceAll(/:[a-z]+/g, '[^/]+')}$`).test(call);
}

function unknownBy({ query, body = [], headers = [] }: DescribedCall, request: RecordedRequest): string[] {
  const parameters = request.query.flatMap(([name, value]) => {
    const values = query[name];
    if (values === undefined) return [name];
    return values === null
      ? []
      : value
          .split(',')
          .filter((one) => !values.includes(one))
          .map((one) => `${name}=${one}`);
  });
  const known = new Set([...usualHeaders, ...headers]);
  return [
    ...parameters,
    ...request.body.filter((key) => !body.includes(key)),
    ...request.headers.filter((name) => !known.has(name)),
  ];
}

/** A platform that accepts everything and records the requests. */
async function startRecorder() {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://upstream');
      const text = Buffer.concat(chunks).toString();
      requests.push({
        call: `${request.method} ${url.pathname}`,
        query: [...url.searchParams],
        body: request.headers['content-type'] === 'application/json' ? keysOf(JSON.parse(text)) : [],
        headers: headersOf(request.headers),
      });
      const refusesNewer = url.searchParams.get('query') === 'older' && url.searchParams.has('post.fields');
      const storage = `http://${request.headers.host}/storage`;
      const job = { id: '1', upload_url: `${storage}/upload`, download_url: `${storage}/download` };
      const status = request.method === 'POST' ? 'created' : 'complete';
      const isJob = url.pathname.startsWith('/2/compliance/jobs');
      const answer = refusesNewer
        ? { errors: [{ parameters: { 'post.fields': [] } }] }
        : { data: isJob ? { ...job, status } : [{ id: '1', value: 'a' }] };
      response.writeHead(refusesNewer ? 400 : 200).end(JSON.stringify(answer));
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const headersOf = (headers: IncomingHttpHeaders) => Object.keys(headers);

function keysOf(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => keysOf(one, prefix)))];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => [
    `${prefix}${key}`,
    ...keysOf(one, `${prefix}${key}.`),
  ]);
}

const signal = new AbortController().signal;
const call = { signal, permit: () => Promise.resolve() };
const rule = { value: 'a', tag: 't', options: { nsfw: true, quality: false } };
const times = { from: new Date(0), to: new Date(60_000) };

async function askEverythingOfX(client: UpstreamClient): Promise<void> {
  const rules = createXRules(client);
  await rules.list(call);
  await rules.add([rule], call);
  await rules.remove(['1'], call);
  await rules.room(call);
  await createEndStaleConnections(client)(signal);
  await createXCompliance(client, { pace: 10_000 }).check(['1', '2'], signal);
  for (const expansions of xExpansions) {
    await drain(
      createXStream(client, { expansions }).open({ after: null, since: null, now: new Date() }, signal),
    );
    await drain(createXRecovery(client, expansions).records(times.from, times.to, signal));
    for (const archive of xSearches) {
      for (const value of ['newer', 'older']) {
        const search = createXSearch(client, { expansions, archive });
        await search.page({ ...times, value, rule: { id: '1', tag: 't' }, size: 10, token: 'next' }, signal);
      }
    }
  }
}

async function askEverythingOfFirehose(client: UpstreamClient): Promise<void> {
  const rules = createFirehoseRules(client);
  await rules.list(call).catch(() => undefined);
  await rules.add([rule], call).catch(() => undefined);
  await rules.remove(['1'], call);
  const stream = createFirehoseStream(client);
  await drain(stream.open({ after: '0-1', since: null, now: new Date() }, signal));
  await drain(stream.open({ after: null, since: new Date(), now: new Date() }, signal));
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of items);
  } catch {
    // The result is irrelevant: only the request counts.
  }
}

test("every call, parameter, value, header and field that Earshot sends is in the platforms' descriptions", async () => {
  using recorder = await startRecorder();
  await using client = createUpstreamClient({ baseUrl: recorder.url, token: 't', name: 'It' });
  await askEverythingOfX(client);
  await askEverythingOfFirehose(client);
  expect(new Set(recorder.requests.map((request) => request.call)).size).toBeGreaterThanOrEqual(15);
  expect(recorder.requests.some(({ query }) => query.some(([name]) => name === 'tweet.fields'))).toBe(true);
  expect(recorder.requests.flatMap(unknownIn)).toEqual([]);
});

test.each([
  ['GET /2/tweets/search/recent', [['post.fields', 'author_id']], 'post.fields=author_id'],
  ['GET /2/tweets/search/stream', [['post.fields', 'text']], 'post.fields'],
  ['GET /2/tweets/search/latest', [], 'GET /2/tweets/search/latest'],
] as const)('control: %s with %j is detected', (call, query, finding) => {
  expect(unknownIn({ call, query, body: [], headers: [] })).toEqual([finding]);
});
