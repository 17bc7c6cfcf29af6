import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IngestOptions } from '../src/ingest/ingest-worker.ts';
import { createUpstreamClient, type UpstreamClient } from '../src/upstream/client.ts';
import { createXStream } from '../src/upstream/x/stream.ts';
import { startHostileUpstream } from './hostile-upstream.ts';
import { soon, startIngest } from './ingest-support.ts';
import { createLocalBells } from './local-bells.ts';
import { openOwnLogWorld } from './log-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** A source with one rule, from a hostile upstream to the matches in the database. */
async function openPoisonWorld(
  platform: 'x' | 'firehose',
  more: (client: UpstreamClient) => Partial<IngestOptions> = () => ({}),
) {
  await using stack = new AsyncDisposableStack();
  const { world: log, database } = stack.use(await openOwnLogWorld(template));
  const upstream = stack.use(await startHostileUpstream(platform));
  const client = stack.use(createUpstreamClient({ baseUrl: upstream.url, token: 't', name: platform }));
  if (platform === 'firehose') {
    await database.run(
      `insert into sources (id, platform, capacity) values ('firehose:main', 'firehose', 9)`,
    );
    await database.run(
      `insert into slots (id, platform, source_id, value, value_hash, state, upstream_rule_id)
       values ('slot_f', 'firehose', 'firehose:main', 'v', '\\x01', 'registered', '1')`,
    );
    await database.run(
      `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version)
       values ('slot_f', 'rule_1', 'acc_1', 'firehose', 1)`,
    );
  }
  stack.use(log.startWorkers());
  const bells = createLocalBells();
  const ingest = stack.use(
    startIngest({ database, bells, client: () => client }, platform, log.log, more(client)),
  );
  await eventually(() => expect(upstream.opened).toHaveLength(1), soon);
  const all = stack.move();
  return {
    upstream,
    endings: () => ingest.endings(),
    /** The names of the items of all matches, as often as each is stored. */
    stored: async (): Promise<string[]> => {
      const rows = await database.many<{ id: string }>(
        `select p.platform_post_id as id from matches m join posts p using (platform, event_key, event_day)
         order by id`,
      );
      return rows.map(({ id }) => id);
    },
    dropped: async (): Promise<Record<string, number>> => {
      const { values } = await ingest.metrics.itemsDropped.get();
      const some = values.filter(({ labels, value }) => labels.platform === platform && value > 0);
      return Object.fromEntries(some.map(({ labels, value }) => [labels.reason, value]));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const matchedAt = new Date().toISOString();
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const megabytes = (count: number) => 'x'.repeat(count * 1024 * 1024);

function page(url: string, more = '"title":"good"'): string {
  return `{"query_ids":["1"],"matched_at":"${matchedAt}","document":{"url":"${url}",${more}}}`;
}
const frame = (id: string, data: string) => `id: ${id}\nevent: update\ndata: ${data}\n\n`;

test('Firehose: valid pages are stored once, whatever is between them, on one connection', async () => {
  await using world = await openPoisonWorld('firehose');
  const { upstream, stored, dropped } = world;
  const hostile = [
    (id: string) => frame(id, page('deep', `"title":${nested(12_000)}`)),
    (id: string) => frame(id, page('deep', `"other":${nested(12_000)}`)),
    (id: string) => frame(id, page('deep', `"other":${nested(60_000)}`)),
    (id: string) => frame(id, page('many', `"other":[${'{},'.repeat(300_000)}1]`)),
    (id: string) => frame(id, page('big', `"other":"${megabytes(17)}"`)),
    (id: string) => `event: update\ndata: ${megabytes(17)}\nid: ${id}\n\n`,
    (id: string) => frame(id, 'no JSON'),
  ];
  upstream.send(frame('0-0', page('good 0')), '0-0');
  for (const [n, make] of hostile.entries()) {
    const [bad, good] = [`0-${2 * n + 1}`, `0-${2 * n + 2}`];
    upstream.send(make(bad), bad);
    upstream.send(frame(good, page(`good ${n + 1}`)), good);
  }
  const good = [0, ...hostile.keys().map((n) => n + 1)].map((n) => `good ${n}`);
  await eventually(async () => expect(await stored()).toHaveLength(good.length), soon);
  expect(await stored()).toEqual(good);
  expect(await dropped()).toEqual({ nested_too_deep: 3, too_large: 3, not_json: 1 });
  expect(upstream.opened).toEqual([null]);
  expect(await world.endings()).toEqual([]);
});

test('Firehose: the next connection begins behind the last item, even if that was dropped', async () => {
  await using world = await openPoisonWorld('firehose');
  const { upstream, stored, dropped } = world;
  upstream.send(frame('0-1', page('good 1')), '0-1');
  upstream.send(frame('0-2', page('deep', `"other":${nested(12_000)}`)), '0-2');
  upstream.send(frame('0-3', megabytes(17)), '0-3');
  await eventually(async () => expect(await dropped()).toEqual({ nested_too_deep: 1, too_large: 1 }), soon);
  await eventually(async () => expect(await stored()).toEqual(['good 1']), soon);
  upstream.end();
  await eventually(() => expect(upstream.opened).toEqual([null, '0-3']), soon);
  upstream.send(frame('0-4', page('good 4')), '0-4');
  await eventually(async () => expect(await stored()).toEqual(['good 1', 'good 4']), soon);
  expect(await dropped()).toEqual({ nested_too_deep: 1, too_large: 1 });
});

const now = BigInt(Date.now() - 1_288_834_974_657) << 22n;
const postId = (number: number) => String(now + BigInt(number));
const post = (number: number, more = '"text":"good"') =>
  `{"data":{"id":"${postId(number)}",${more}},"matching_rules":[{"id":"1"}]}\r\n`;

test('X: valid posts are stored once, whatever is between them, on one connection', async () => {
  await using world = await openPoisonWorld('x');
  const { upstream, stored } = world;
  upstream.send(post(1));
  upstream.send(post(2, `"text":"deep","other":${nested(12_000)}`));
  upstream.send(post(3));
  upstream.send(post(4, `"text":"${megabytes(5)}"`));
  upstream.send(post(5));
  await eventually(async () => expect(await stored()).toEqual([1, 3, 5].map(postId)), soon);
  expect(await world.dropped()).toEqual({ nested_too_deep: 1, too_large: 1 });
  expect(upstream.opened).toHaveLength(1);
  expect(await world.endings()).toEqual([]);
});

test('X: an unterminated line is counted, and does not keep the stream alive', async () => {
  await using world = await openPoisonWorld('x', (client) => ({
    upstream: createXStream(client, { silenceMaxMs: 2_000 }),
  }));
  const { upstream, stored } = world;
  upstream.send(post(1));
  upstream.send(megabytes(5));
  const drip = setInterval(() => upstream.opened.length === 1 && upstream.send('x'), 50);
  await eventually(() => expect(upstream.opened).toHaveLength(2), soon).finally(() => clearInterval(drip));
  upstream.send(post(2));
  await eventually(async () => expect(await stored()).toEqual([1, 2].map(postId)), soon);
  expect(await world.dropped()).toEqual({ too_large: 1 });
  expect(await world.endings()).toEqual(['stalled']);
});
