import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import { type Account, type ServerUnderTest, tapToken, type World, xToken } from './src/world.ts';

/** Bob must not learn that a resource of Alice's exists, nor see or change it. */
let world: World;
let server: ServerUnderTest;
let alice: Account;
let asAlice: Api;
let asBob: Api;
/** Rules with the same query, which share an upstream rule; and another rule of Alice's that matches the same posts. */
let alicesRule: string;
let alicesOtherRule: { rule_id: string; platform_rule_id: string | undefined };
let bobsRule: string;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  alice = await world.newAccount('alice');
  asAlice = server.api(alice);
  asBob = server.api(await world.newAccount('bob'));
  alicesRule = (await asAlice.createRule({ x: 'meteor', firehose: 'title:meteor' })).rule_id;
  const other = await asAlice.createRule({ x: 'meteor lang:en' });
  alicesOtherRule = { rule_id: other.rule_id, platform_rule_id: other.platforms.x?.platform_rule_id };
  bobsRule = (await asBob.createRule({ x: 'meteor', firehose: 'title:meteor' })).rule_id;
  await world.sandbox.posts(['a meteor falls', 'another meteor']);
  await world.sandbox.pages([{ url: 'https://news.example/m', title: 'Meteor', text: 'it fell' }]);
  await eventually(async () => expect(await asAlice.allMatches()).toHaveLength(5), { timeoutMs: 10_000 });
  await eventually(async () => expect(await asBob.allMatches()).toHaveLength(3), { timeoutMs: 10_000 });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The same length and form as a real id. */
const unknownLike = (id: string) => `rule_${'0'.repeat(id.length - 'rule_'.length)}`;

/** All that the caller can see of an answer, except the date. */
async function seen(api: Api, method: string, path: string, body?: object) {
  const { status, headers, text } = await api.call(method, path, body, { 'x-request-id': 'the-same' });
  return { status, headers: [...headers].filter(([name]) => name !== 'date'), text };
}

describe('an id of another account answers like an unknown one, byte for byte', () => {
  const requests: ReadonlyArray<readonly [string, object]> = [
    ['/api.DeleteRule', {}],
    ['/api.GetRule', {}],
    ['/api.UpdateRule', { name: 'mine now' }],
    ['/api.UpdateRule', { platforms: ['x'], overrides: { x: 'mine now' } }],
    ['/api.PreviewRule', { platforms: ['x'], overrides: { x: 'mine now' } }],
    ['/api.PauseRule', {}],
    ['/api.GetUsage', { by: 'day' }],
    ['/api.GetRelevance', {}],
    ['/api.ListLabels', {}],
    ['/api.MuteMatches', { author: 'ferris' }],
    ['/api.CountMatches', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', step: 3_600 }],
    ['/api.ExportMatches', { format: 'csv' }],
    ['/api.ResumeRule', {}],
    ['/matches', {}],
    ['/matches', { platform: 'x' }],
    ['/matches', { order: 'oldest', limit: 1, wait_seconds: 1 }],
    ['/matches', { from: '2026-01-01T00:00:00Z' }],
    ['/matches', { cursor: 'AAAA' }],
  ];

  test.each(requests)('%s with rule_id and %j', async (path, rest) => {
    const foreign = await seen(asBob, 'POST', path, { ...rest, rule_id: alicesRule });
    const unknown = await seen(asBob, 'POST', path, { ...rest, rule_id: unknownLike(alicesRule) });
    expect(unknown.status).toBe(404);
    expect(foreign).toEqual(unknown);
    expect((await asAlice.listRules()).rules).toHaveLength(2);
  });

  test('/api.GetMatch with match_id', async () => {
    const [match] = await asAlice.allMatches();
    const id = match?.id ?? '';
    expect((await seen(asAlice, 'POST', '/api.GetMatch', { match_id: id })).status).toBe(200);
    const foreign = await seen(asBob, 'POST', '/api.GetMatch', { match_id: id });
    const unknown = await seen(asBob, 'POST', '/api.GetMatch', { match_id: 'mat_0000zzzzzzzz' });
    expect(unknown.status).toBe(404);
    expect(foreign).toEqual(unknown);
  });

  test('/api.DeleteArchive with archive_id', async () => {
    const id = `arc_${'1'.repeat(26)}`;
    await world.database.query(
      `insert into archives (id, account_id, name, endpoint, region, bucket, prefix, access_key_id, secret, format, position,
         covered_until, next_attempt_at)
       values ($1, $2, 'n', 'e', 'r', 'b', 'p', 'k', 's', 'parquet', 0, now(), 'infinity')`,
      [id, alice.accountId],
    );
    const remove = (id: string) => seen(asBob, 'POST', '/api.DeleteArchive', { archive_id: id });
    const foreign = await remove(id);
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(await remove(`arc_${'0'.repeat(26)}`));
    expect((await asBob.call('POST', '/api.ListArchives', {})).json).toMatchObject({ archives: [] });
    expect((await asAlice.call('POST', '/api.DeleteArchive', { archive_id: id })).status).toBe(200);
  });

  test('/api.LabelMatches with match_ids', async () => {
    const [match] = await asAlice.allMatches();
    const label = (id: string) =>
      seen(asBob, 'POST', '/api.LabelMatches', { match_ids: [id], label: 'relevant' });
    const foreign = await label(match?.id ?? '');
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(await label('mat_0000zzzzzzzz'));
  });

  test('/api.DeleteFeed with feed_id, and /api.CreateFeed with rule_ids', async () => {
    const created = await asAlice.call('POST', '/api.CreateFeed', { name: 'quakes' });
    const { feed_id: id, atom_url } = Object(created.json);
    const foreign = await seen(asBob, 'POST', '/api.DeleteFeed', { feed_id: id });
    const unknown = await seen(asBob, 'POST', '/api.DeleteFeed', { feed_id: `feed_${'0'.repeat(26)}` });
    expect(unknown.status).toBe(404);
    expect(foreign).toEqual(unknown);
    const createOf = (ruleId: string) =>
      seen(asBob, 'POST', '/api.CreateFeed', { name: 'quakes', rule_ids: [bobsRule, ruleId] });
    const ofAlice = await createOf(alicesRule);
    expect(ofAlice.status).toBe(404);
    expect(ofAlice).toEqual(await createOf(unknownLike(alicesRule)));
    expect((await seen(asBob, 'POST', '/api.ListFeeds', {})).text).toBe('{"feeds":[],"next_cursor":null}');
    // The URL still works, and needs no key: it has the matches of its account alone.
    const feed = await (await fetch(new URL(atom_url, server.url))).text();
    expect(feed.match(/<entry>/g)).toHaveLength(5);
  });

  test('a rule that the caller has deleted', async () => {
    const { rule_id } = await asBob.createRule({ x: 'ephemeral' });
    await asBob.deleteRule(rule_id);
    for (const path of ['/api.DeleteRule', '/api.GetRule', '/api.PauseRule', '/api.ResumeRule', '/matches']) {
      const deleted = await seen(asBob, 'POST', path, { rule_id });
      expect(deleted).toEqual(await seen(asBob, 'POST', path, { rule_id: unknownLike(rule_id) }));
    }
  });
});

describe('a cursor of another account answers like an invalid one', () => {
  const damaged = (cursor: string) => (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1);

  test.each([
    { order: 'newest', limit: 1 },
    { order: 'oldest', limit: 1 },
    { order: 'oldest', limit: 1, platform: 'x' },
  ])('/matches with %j', async (request) => {
    const cursor = (await asAlice.matches(request)).next_cursor ?? '';
    const ask = (api: Api, used: string) => seen(api, 'POST', '/matches', { ...request, cursor: used });
    expect((await ask(asAlice, cursor)).status).toBe(200);
    const foreign = await ask(asBob, cursor);
    expect(foreign.status).toBe(400);
    expect(foreign).toEqual(await ask(asBob, damaged(cursor)));
  });

  test('/notices', async () => {
    const begun = await asAlice.call('POST', '/notices', { order: 'oldest' });
    const cursor = String(Object(begun.json).next_cursor);
    const ask = (api: Api, used: string) => seen(api, 'POST', '/notices', { order: 'oldest', cursor: used });
    expect((await ask(asAlice, cursor)).status).toBe(200);
    const foreign = await ask(asBob, cursor);
    expect(foreign.status).toBe(400);
    expect(foreign).toEqual(await ask(asBob, damaged(cursor)));
  });

  test('/api.ListRules', async () => {
    const page = await asAlice.call('GET', '/api.ListRules?limit=1');
    const cursor = String(Object(page.json).next_cursor);
    const ask = (api: Api, used: string) => seen(api, 'GET', `/api.ListRules?limit=1&cursor=${used}`);
    expect((await ask(asAlice, cursor)).status).toBe(200);
    const foreign = await ask(asBob, cursor);
    expect(foreign.status).toBe(400);
    expect(foreign).toEqual(await ask(asBob, damaged(cursor)));
  });
});

describe('lists', () => {
  test("contain only the account's own resources", async () => {
    expect((await asBob.listRules()).rules.map(({ id }) => id)).toEqual([bobsRule]);
    const rulesOfMatches = (await asBob.allMatches()).map(({ rule_id }) => rule_id);
    expect(new Set(rulesOfMatches)).toEqual(new Set([bobsRule]));
  });

  test('do not mention rules of others that matched the same item', async () => {
    const everything = JSON.stringify([
      await asBob.allMatches(),
      await asBob.matches({ rule_id: bobsRule }),
      await asBob.matches({ platform: 'x' }),
      await asBob.listRules(),
    ]);
    const { rule_id, platform_rule_id } = alicesOtherRule;
    const { x, firehose } = (await asAlice.getRule(alicesRule)).platforms;
    const alices = [alice.accountId, alicesRule, rule_id, platform_rule_id];
    const upstream = [
      ...(await world.sandbox.xState(xToken)).rules,
      ...(await world.sandbox.firehoseState(tapToken)).rules,
    ];
    expect(upstream.length).toBeGreaterThanOrEqual(3);
    for (const secret of [
      ...alices,
      x?.platform_rule_id,
      firehose?.platform_rule_id,
      ...upstream.map(({ id }) => id),
      'earshot:',
      'slot_',
    ]) {
      expect(secret).toBeTypeOf('string');
      expect(secret).not.toBe('');
      expect(everything).not.toContain(secret);
    }
  });

  test("count only the account's own matches and survive the other account's delete", async () => {
    const [rule] = (await asBob.listRules()).rules;
    expect([rule?.platforms.x?.match_count, rule?.platforms.firehose?.match_count]).toEqual([2, 1]);
    await asAlice.deleteRule(alicesRule);
    expect((await asBob.listRules()).rules).toEqual([rule]);
    expect(await asBob.allMatches()).toHaveLength(3);
  });
});

test('a notice of one account changes no answer about notices for another account', async () => {
  const notices = (api: Api) => seen(api, 'POST', '/notices', { order: 'oldest', limit: 100 });
  const before = await notices(asBob);
  const { rule_id } = await asAlice.createRule({ x: 'shooting star' });
  await asBob.createRule({ x: 'shooting star' });
  await asAlice.updateRule(rule_id, { expires_at: new Date(Date.now() + 1_000).toISOString() });
  await eventually(async () => expect((await notices(asAlice)).text).toContain('rule.expired'), {
    timeoutMs: 20_000,
  });
  const after = await notices(asBob);
  const withoutLimits = ({ headers, ...answer }: typeof before) => ({
    ...answer,
    headers: headers.filter(([name]) => !name.startsWith('ratelimit')),
  });
  expect(withoutLimits(after)).toEqual(withoutLimits(before));
  expect(after.text).not.toContain(rule_id);
});
