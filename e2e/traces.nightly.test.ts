import { randomBytes } from 'node:crypto';
import { eventually, type OtlpReceiver, type OtlpSpan, startOtlpReceiver } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from './src/webhook-receiver.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const within = { timeoutMs: 120_000 };
const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
};

let world: World;
let account: Account;
beforeAll(async () => {
  world = await startWorld();
  account = await world.newAccount();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** A rule for posts with the word, whose matches go to the URL. */
async function makeWebhook(server: ServerUnderTest, word: string, url: string) {
  const api = server.api(account);
  const { rule_id } = await api.createRule({ x: word });
  const answer = await api.call('POST', '/api.CreateWebhook', { name: word, url, rule_id });
  expect(answer).toMatchObject({ status: 200 });
  return { api, rule_id, webhook_id: String(Object(answer.json).webhook_id) };
}

type Trace = Partial<Record<string, OtlpSpan[]>>;

/** The spans of a post by their names. */
function traceOf({ spans }: OtlpReceiver, postId: string): Trace {
  const found = spans.find(({ attributes }) => attributes['earshot.item'] === postId);
  return Object.groupBy(
    spans.filter(({ traceId }) => traceId === found?.traceId),
    ({ name }) => name,
  );
}

const countsOf = (trace: Trace) =>
  Object.fromEntries(Object.entries(trace).map(([name, spans]) => [name, spans?.length]));

describe('posts on their way through three processes, of which half are sampled', () => {
  let collector: OtlpReceiver;
  let matchIds: Map<string, string>;
  let webhookId: string;
  let endpoint: string;
  /** Those of which the collector knows. */
  let traced: string[];
  let delivered = 0;
  /** One of them was delivered by the upstream once more. */
  let repeated: string;

  beforeAll(async () => {
    await using stack = new AsyncDisposableStack();
    collector = await startOtlpReceiver();
    const start = async (roles: string) =>
      stack.use(
        await world.startServer({
          ...env,
          EARSHOT_ROLES: roles,
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=let-me-in',
          OTEL_TRACES_SAMPLER_ARG: '0.5',
        }),
      );
    const receiver = stack.use(await startReceiver({ first: [500] }));
    endpoint = receiver.url;
    const listening = await start('api,ingest');
    await start('match');
    const { api, rule_id, webhook_id } = await makeWebhook(listening, 'aurora', endpoint);
    webhookId = webhook_id;
    const texts = Array.from({ length: 40 }, (_, n) => `an aurora over the unmentionable town ${n}`);
    const listed = (count: number) =>
      eventually(async () => expect(await api.allMatches({ rule_id })).toHaveLength(count), within);
    // Each of these has a message of the event log for itself, so the log knows it again when it comes twice.
    const alone: { readonly id: string }[] = [];
    for (const text of texts.slice(0, 20)) {
      alone.push(...(await world.sandbox.posts([text])));
      await listed(alone.length);
    }
    const posts = [...alone, ...(await world.sandbox.posts(texts.slice(20)))];
    await listed(40);
    const matches = await api.allMatches({ rule_id });
    matchIds = new Map(matches.map((match) => [match.platform_post_id, match.id]));
    await start('deliver');
    await eventually(() => expect(receiver.messages).toHaveLength(1), within);
    // Its time has come to be tried again.
    await eventually(async () => {
      const { rowCount } = await world.database.query(
        'update webhooks set next_attempt_at = now() where id = $1 and failures = 1',
        [webhookId],
      );
      expect(rowCount).toBe(1);
    }, within);
    await eventually(() => expect(receiver.messages).toHaveLength(2), within);
    delivered = Object(JSON.parse(receiver.messages[1]?.body ?? '')).matches.length;

    const sampled = () => alone.find(({ id }) => (traceOf(collector, id)['append'] ?? []).length > 0)?.id;
    repeated = (await eventually(sampled, within)) ?? '';
    await world.sandbox.repost(repeated, 'an aurora over the unmentionable town again');
    await eventually(() => expect(traceOf(collector, repeated)['append']).toHaveLength(2), within);
    await stack.disposeAsync();
    traced = posts.map(({ id }) => id).filter((id) => Object.keys(traceOf(collector, id)).length > 0);
  }, 300_000);
  afterAll(() => collector?.[Symbol.asyncDispose]());

  test('are traced from the socket to each attempt at the webhook, or not at all', () => {
    expect(delivered).toBe(40);
    expect(traced.length).toBeLessThan(40);
    const whole = { receive: 1, append: 1, match: 1, store: 1, deliver: 2 };
    for (const id of traced)
      expect({ id, ...countsOf(traceOf(collector, id)) }).toEqual({
        id,
        ...whole,
        ...(id === repeated && { receive: 2, append: 2 }),
      });
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(traced.length);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(collector.spans.length);
  });

  test('each span names the one before it, also of another process', () => {
    for (const id of traced) {
      const {
        receive: [receive] = [],
        append: [append] = [],
        match: [match] = [],
        ...rest
      } = traceOf(collector, id);
      const { store: [store] = [], deliver: attempts = [] } = rest;
      const matchId = matchIds.get(id);
      expect(receive).toMatchObject({ parentId: null, attributes: { 'earshot.source': 'x:main' } });
      expect(append).toMatchObject({ parentId: receive?.spanId, startMs: expect.any(Number) });
      expect(match).toMatchObject({ parentId: append?.spanId, attributes: { 'earshot.outcome': 'stored' } });
      expect(store).toMatchObject({ parentId: match?.spanId, attributes: { 'earshot.match': matchId } });
      const common = { 'earshot.match': matchId, 'earshot.webhook': webhookId };
      expect(attempts).toMatchObject([
        {
          parentId: store?.spanId,
          failed: true,
          attributes: { ...common, 'earshot.attempt': 1, 'http.response.status_code': 500 },
        },
        {
          parentId: store?.spanId,
          failed: false,
          attributes: { ...common, 'earshot.attempt': 2, 'http.response.status_code': 200 },
        },
      ]);
      const way = [receive, match, attempts[0]];
      expect(way.map((span) => span?.resource)).toMatchObject([
        { 'service.name': 'earshot', 'earshot.roles': ['api', 'ingest'] },
        { 'service.name': 'earshot', 'earshot.roles': ['match'] },
        { 'service.name': 'earshot', 'earshot.roles': ['deliver'] },
      ]);
      expect(new Set(way.map((span) => span?.resource['service.instance.id'])).size).toBe(3);
      const times = way.map((span) => span?.startMs ?? 0);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
    }
  });

  test('what the upstream delivers again is in the same trace', () => {
    const { append = [] } = traceOf(collector, repeated);
    expect(append.map(({ attributes }) => attributes['earshot.log.duplicate'])).toEqual([false, true]);
  });

  test('the collector learns nothing of texts, queries and endpoints, and gets its key', () => {
    expect(collector.requests.length).toBeGreaterThan(0);
    for (const { headers, body } of collector.requests) {
      expect(headers['x-collector-key']).toBe('let-me-in');
      for (const text of ['unmentionable', 'aurora', endpoint, 'whsec_', account.key])
        expect({ text, told: body.includes(text) }).toEqual({ text, told: false });
    }
  });
});

describe('a collector that is of no use costs nothing but spans', () => {
  async function flow(url: string, count: number) {
    await using receiver = await startReceiver();
    const server = await world.startServer({
      ...env,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
      OTEL_TRACES_SAMPLER_ARG: '1',
    });
    const { api, rule_id } = await makeWebhook(server, `word${count}`, receiver.url);
    for (let sent = 0; sent < count; sent += 500)
      await world.sandbox.posts(Array.from({ length: Math.min(500, count - sent) }, () => `word${count}`));
    const received = () =>
      receiver.messages.flatMap(({ body }) => Object(JSON.parse(body)).matches as Array<{ id: string }>);
    await eventually(() => expect(new Set(received().map(({ id }) => id)).size).toBe(count), within);
    expect((await api.matches({ rule_id })).matches.length).toBeGreaterThan(0);
    return server;
  }

  const spanCount = async ({ metricsUrl }: ServerUnderTest, fate: string) => {
    const text = await (await fetch(metricsUrl)).text();
    return Number(new RegExp(`^earshot_trace_spans_total\\{fate="${fate}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  test('away: all posts arrive, lost spans are counted, and the log tells once', async () => {
    const gone = await startOtlpReceiver();
    await gone[Symbol.asyncDispose]();
    const server = await flow(gone.url, 10);
    await eventually(
      async () => expect(await spanCount(server, 'failed')).toBeGreaterThanOrEqual(50),
      within,
    );
    await server.stop();
    const told = (await world.serverLog()).match(/spans of traces did not reach the collector/g);
    expect(told).toHaveLength(1);
  });

  test('hanging: all posts arrive, lost spans are counted, and the node stops in order', async () => {
    await using hanging = await startOtlpReceiver({ hangs: true });
    const server = await flow(hanging.url, 600);
    await eventually(async () => expect(await spanCount(server, 'failed')).toBeGreaterThan(0), within);
    expect(hanging.requests.length).toBeGreaterThan(0);
    expect(await spanCount(server, 'sent')).toBe(0);
    const before = (await world.serverLog()).split('earshot is down').length;
    await server.stop();
    expect((await world.serverLog()).split('earshot is down')).toHaveLength(before + 1);
  });
});
