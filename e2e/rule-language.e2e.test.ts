import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import { type ServerUnderTest, tapToken, type World, xToken } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let api: Api;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  api = server.api(await world.newAccount());
});
afterAll(() => world?.[Symbol.asyncDispose]());

const rule = (overrides: { x?: string; firehose?: string }) => ({
  name: 'a rule',
  intent: 'to try the language',
  platforms: Object.keys(overrides),
  overrides,
});

async function validate(overrides: { x?: string; firehose?: string }) {
  const answer = await api.call('POST', '/api.ValidateRule', {
    platforms: Object.keys(overrides),
    overrides,
  });
  expect(answer.status).toBe(200);
  return operations.ValidateRule.answer.parse(answer.json).platforms;
}

describe('a rule with mistakes', () => {
  test('is refused with every mistake of both values, their places, and fixes that mend them', async () => {
    const overrides = { x: 'glacier AND lake', firehose: 'NOT glacier' };
    const answer = await api.call('POST', '/api.CreateRule', rule(overrides));
    expect(answer.status).toBe(400);
    const { violations } = (answer.json as { details: { violations: object[] } }).details;
    expect(violations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ field: 'overrides.x', span: { start: 8, end: 11 } }),
        expect.objectContaining({ field: 'overrides.firehose' }),
      ]),
    );
    const { x } = await validate({ x: overrides.x });
    const [edit] = x?.diagnostics[0]?.fixes[0]?.edits ?? [];
    const mended = `${overrides.x.slice(0, edit?.span.start)}${edit?.text}${overrides.x.slice(edit?.span.end)}`;
    expect((await validate({ x: mended })).x?.valid).toBe(true);
    expect((await world.sandbox.xState(xToken)).rules).toEqual([]);
  });

  test('that is legal but hardly meant is created only for who accepts the doubt', async () => {
    const overrides = { x: 'glacier OR lake -is:retweet' };
    const refused = await api.call('POST', '/api.CreateRule', rule(overrides));
    expect(refused).toMatchObject({
      status: 400,
      json: { details: { violations: [{ code: 'or_precedence', severity: 'doubt' }] } },
    });
    const accepted = await api.call('POST', '/api.CreateRule', { ...rule(overrides), accept_doubts: true });
    expect(accepted.status).toBe(200);
    const created = operations.CreateRule.answer.parse(accepted.json);
    expect(created.platforms.x?.warnings).toEqual(
      expect.arrayContaining([expect.objectContaining({ severity: 'doubt' })]),
    );
    await api.deleteRule(created.rule_id);
  });
});

describe('options of a platform', () => {
  const firehose = 'title:"moraine walk"';
  const upstream = async () => {
    const { rules } = await world.sandbox.firehoseState(tapToken);
    return rules.flatMap(({ value, quality, nsfw }) => (value === firehose ? [{ quality, nsfw }] : []));
  };
  const create = (options?: object) =>
    api.call('POST', '/api.CreateRule', {
      ...rule({ firehose }),
      ...(options && { options: { firehose: options } }),
    });
  const created = async (options?: object) => {
    const answer = await create(options);
    expect(answer).toMatchObject({ status: 200 });
    return operations.CreateRule.answer.parse(answer.json).rule_id;
  };

  test('are registered with the value, and rules with other options do not share it', async () => {
    const plain = await created();
    const same = await created({ quality: true, nsfw: false });
    const other = await created({ quality: false });
    expect(await upstream()).toEqual([
      { quality: true, nsfw: false },
      { quality: false, nsfw: false },
    ]);
    expect(await api.getRule(plain)).toMatchObject({ platforms: { firehose: { value: firehose } } });
    expect((await api.getRule(same)).platforms.firehose).not.toHaveProperty('options');
    expect((await api.getRule(other)).platforms.firehose?.options).toEqual({ quality: false });
    await Promise.all([plain, same, other].map((id) => api.deleteRule(id)));
  });
});

test('rules that mean the same share one upstream rule', async () => {
  const first = await api.createRule({ x: '(lake OR  "glacier") lang:en' });
  const second = await api.createRule({ x: 'lang:en (Glacier OR lake)' });
  const value = first.platforms.x?.translated_value;
  expect(second.platforms.x?.translated_value).toBe(value);
  const { rules } = await world.sandbox.xState(xToken);
  expect(rules.filter((rule) => rule.value === value)).toHaveLength(1);
  await api.deleteRule(first.rule_id);
  await api.deleteRule(second.rule_id);
});

test('a match says why: the places in the item and in the registered value', async () => {
  const { rule_id, platforms } = await api.createRule({
    x: '"blue ice" -is:retweet',
    firehose: 'title:glacier',
  });
  await world.sandbox.posts(['So much Blue Ice today']);
  await world.sandbox.pages([{ url: 'https://news.example/why', title: 'The glacier', text: 'melts' }]);
  const matches = await eventually(
    async () => {
      const found = await api.allMatches({ rule_id });
      expect(found).toHaveLength(2);
      return found;
    },
    { timeoutMs: 10_000 },
  );
  const post = matches.find(({ platform }) => platform === 'x');
  const [evidence] = post?.why.evidence ?? [];
  expect(post?.why.verdict).toBe('match');
  expect(evidence).toMatchObject({ path: 'data.text', text: 'Blue Ice', text_span: { start: 8, end: 16 } });
  const value = platforms.x?.translated_value ?? '';
  expect(value.slice(evidence?.rule_span.start, evidence?.rule_span.end)).toBe('"blue ice"');
  const page = matches.find(({ platform }) => platform === 'firehose');
  expect(page?.why).toMatchObject({ verdict: 'match', evidence: [{ field: 'title' }] });
});

test('a verdict of the upstream that we would deny is stored and counted', async () => {
  const { rule_id } = await api.createRule({ x: 'aurora' });
  // By hand, X is given a wider rule under the tag of ours: it then matches what our reading denies.
  const state = await world.sandbox.xState(xToken);
  const ours = state.rules.find(({ value }) => value === 'aurora');
  const change = (body: object) =>
    fetch(new URL('/2/tweets/search/stream/rules', world.sandbox.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${xToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await change({ delete: { ids: [ours?.id] } });
  await change({ add: [{ value: 'meteor', tag: ours?.tag }] });
  await world.sandbox.posts(['a meteor falls']);
  await eventually(async () => expect(await api.allMatches({ rule_id })).toHaveLength(1), {
    timeoutMs: 10_000,
  });
  const metrics = await (await fetch(server.metricsUrl)).text();
  expect(metrics).toMatch(/earshot_unexplained_total\{platform="x",operator="keyword"\} 1/);
});
