import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox();
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const validate = async (value: string) =>
  at((await client.tap('POST', '/v1/validate', { value })).body, 'data');

describe('checking a rule', () => {
  test('warns with the position and reports the rule as valid', async () => {
    const checked = await validate('"solar" OR "wind" AND "hydro"');
    expect(checked).toMatchObject({ valid: true, compiled: '+added:wind +added:hydro' });
    expect(at(checked, 'diagnostics', 0)).toEqual({
      severity: 'warning',
      message: expect.stringContaining('solar'),
      start: expect.any(Number),
      end: expect.any(Number),
    });
  });

  test('finds all errors with their places, without a token too', async () => {
    const value = 'lang:"en" AND language:"english" AND (';
    const { status, body } = await client.call('POST', '/v1/validate/public', undefined, { value });
    expect(status).toBe(200);
    expect(at(body, 'data', 'valid')).toBe(false);
    expect(at(body, 'data')).not.toHaveProperty('compiled');
    const errors = listAt(body, 'data', 'diagnostics').filter((one) => at(one, 'severity') === 'error');
    const places = errors.map((one) => value.slice(Number(at(one, 'start')), Number(at(one, 'end'))));
    expect(places.length).toBeGreaterThanOrEqual(2);
    expect(places[0]).toContain('lang');
  });
});

describe('adding a rule', () => {
  test('is refused with every error under value', async () => {
    const answer = await client.tap('POST', '/v1/rules', { value: 'lang:"en" AND category:"/News"' });
    expect(answer.status).toBe(422);
    const messages = listAt(answer.body, 'errors', 'value');
    expect(messages).toHaveLength(2);
    expect(at(answer.body, 'message')).toBe(messages.join(' '));
  });

  test('is not refused for a warning, and the value stays as it was written', async () => {
    const value = 'solar OR wind  AND hydro';
    const answer = await client.tap('POST', '/v1/rules', { value });
    expect(answer).toMatchObject({ status: 201, body: { data: { value } } });
  });
});

test('with excerpts, an event shows only the text around the hits, and rules match the whole page', async () => {
  await using brief = await startSandbox({ excerptChars: 6 });
  const other = createClient(brief);
  await other.addTapRule('solar AND removed:coal AND recent:1d AND NOT hydro');
  await other.addTapRule('"wind power"');
  const metadataOnly = await other.addTapRule('title:fjord');
  const stream = await other.openTap();
  await stream.frame();
  const chunks = [
    { typ: 'ins', text: 'Far away 🚀🚀🚀 solar and wind power rose again.' },
    { typ: 'ins', text: 'Nothing to see here.' },
    { typ: 'del', text: 'coal' },
  ];
  await other.control('POST', '/firehose/pages', { url: 'https://news.example/a', title: 'gas', chunks });
  expect(at((await stream.frame())?.data, 'document', 'diff', 'chunks')).toEqual([
    { typ: 'ins', text: '🚀🚀 solar and wind power rose ' },
    { typ: 'del', text: 'coal' },
  ]);
  await other.control('POST', '/firehose/pages', {
    url: 'https://news.example/b',
    title: 'fjord',
    chunks: [{ typ: 'ins', text: 'hydro' }],
  });
  const { data } = (await stream.frame()) ?? {};
  expect(at(data, 'query_ids')).toEqual([metadataOnly]);
  expect(at(data, 'document')).not.toHaveProperty('diff');
});

test('a page names the rules that its whole record matches, whatever an event shows of it', async () => {
  const rules = [
    'solar OR wind AND coal',
    'wind AND removed:coal',
    'title:"heat pumps" AND language:"de"',
    'wind AND domain:"news.example" AND url:*\\/press\\/*',
    'wind AND url:/.*\\/a-[0-9]/',
    'wind AND page_category:"/News" AND page_type:"/Article"',
    'added_anchor:"full study"',
    'title:pump? AND recent:1h',
    'title:pump? AND recent:5h',
  ];
  const ids: string[] = [];
  for (const rule of rules) ids.push(await client.addTapRule(rule));
  const { body } = await client.control('POST', '/firehose/pages', {
    url: 'https://www.news.example/press/a-1',
    title: 'Heat pumps overtake gas',
    publish_time: new Date(Date.now() - 2 * 3_600_000).toISOString().slice(0, 19),
    language: 'de',
    page_category: ['/News'],
    page_types: ['/Article'],
    chunks: [
      { typ: 'ins', text: 'solar and wind' },
      { typ: 'del', text: 'coal' },
    ],
    anchors: { added: ['the full study'] },
  });
  const matched = listAt(body, 'pages', 0, 'events', 0, 'query_ids');
  expect(matched.map((id) => rules[ids.indexOf(String(id))])).toEqual(
    rules.filter((rule) => rule !== 'solar OR wind AND coal' && !rule.endsWith('recent:1h')),
  );
});
