import { operations } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';
import { readAnswer } from './injections/read-answer.ts';

/** Calls a tool. Returns its last request to each operation, and the text of the answer. */
async function ask(tool: string, args: object, answers: Readonly<Record<string, object>> = {}) {
  const requests = new Map<string, Record<string, unknown>>();
  await using server = await connectInProcess(async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const operation = Object.values(operations).find(({ path }) => path === pathname);
    requests.set(operation?.id ?? pathname, JSON.parse(typeof init?.body === 'string' ? init.body : '{}'));
    return jsonAnswer({ ...operation?.example.answer, ...answers[operation?.id ?? ''] });
  });
  const result = await server.client.callTool({ name: tool, arguments: { ...args } });
  expect(result.isError ? result.content : []).toEqual([]);
  const [block] = result.content;
  return { requests, text: block?.type === 'text' ? block.text : '' };
}

const examples = [
  { platform: 'x', match: true, text: 'a', author: 'jane' },
  { platform: 'x', match: false, text: 'b' },
];
const sentExamples = {
  must_match: [{ platform: 'x', payload: { text: 'a', author: { handle: 'jane' } } }],
  must_not_match: [{ platform: 'x', payload: { text: 'b' } }],
};
const options = { firehose: { quality: false } };

describe('update_rule', () => {
  const update = async (args: object) =>
    (await ask('update_rule', { rule_id: 'rule_1', ...args })).requests.get('UpdateRule');

  test('sends only the new queries, even if their platforms are listed too', async () => {
    const overrides = { x: 'a' };
    for (const args of [{ overrides }, { platforms: ['x'], overrides }])
      expect(await update(args)).toEqual({ rule_id: 'rule_1', overrides });
  });

  test('sends platforms that differ from those of the queries', async () => {
    for (const args of [{ platforms: ['x'] }, { platforms: ['x', 'firehose'], overrides: { x: 'a' } }])
      expect(await update(args)).toEqual({ rule_id: 'rule_1', ...args });
  });

  test('sends options unchanged, and examples in the form of the API', async () => {
    expect(await update({ options, examples })).toMatchObject({ options, examples: sentExamples });
  });
});

test('create_rule and validate_rule send examples', async () => {
  const draft = { platforms: ['x'], overrides: { x: 'a' } };
  const created = await ask('create_rule', { name: 'a', intent: 'b', ...draft, options, examples });
  expect(created.requests.get('CreateRule')).toMatchObject({ examples: sentExamples, options });
  const failing = [{ field: 'examples.must_match[0]', code: 'example_failed', message: 'Does not match.' }];
  const checked = await ask(
    'validate_rule',
    { ...draft, examples },
    { ValidateRule: { example_violations: failing } },
  );
  expect(checked.requests.get('ValidateRule')).toMatchObject({ examples: sentExamples });
  expect(checked.text).toContain('- field "examples.must_match[0]", message "Does not match."');
});

test('validate_rule sends the intent, and returns its hints', async () => {
  const intent_hints = [{ code: 'intent_too_short', message: 'Say more.' }];
  const checked = await ask(
    'validate_rule',
    { overrides: { x: 'a' }, intent: 'a' },
    { ValidateRule: { intent_hints } },
  );
  expect(checked.requests.get('ValidateRule')).toMatchObject({ intent: 'a' });
  expect(checked.text).toContain('Say more.');
});

test('create_rule sends the platforms of its overrides unless they are listed', async () => {
  const overrides = { firehose: 'a' };
  const { requests } = await ask('create_rule', { name: 'a', intent: 'b', overrides });
  expect(requests.get('CreateRule')).toMatchObject({ platforms: ['firehose'], overrides });
});

test('create_rule does not create a second rule with the same queries unless asked, and says what is next', async () => {
  const draft = { name: 'a', intent: 'b', overrides: { x: 'a' } };
  const { requests, text } = await ask('create_rule', draft);
  expect(requests.get('CreateRule')).toMatchObject({ allow_equivalent: false });
  expect(text).toContain(operations.CreateRule.example.answer.rule_id);
  expect(text).toContain('wait_for_matches');
  const second = await ask('create_rule', { ...draft, allow_equivalent: true });
  expect(second.requests.get('CreateRule')).toMatchObject({ allow_equivalent: true });
});

test('wait_for_matches starts a new reader with the oldest match of a rule, or with new matches', async () => {
  const started = async (args: object) =>
    (await ask('wait_for_matches', { reader: 'r', ...args })).requests.get('ReadMatches')?.['start'];
  expect(await started({})).toBe('now');
  expect(await started({ start: 'oldest' })).toBe('oldest');
  expect(await started({ rule_id: 'rule_1' })).toBe('oldest');
  expect(await started({ rule_id: 'rule_1', start: 'now' })).toBe('now');
});

test('wait_for_matches without a rule says since when its reader reads, and what shows earlier matches', async () => {
  const name = 'report';
  const reader = { name, of: 'matches', rule_id: null, platform: null };
  const created_at = new Date(Date.now() - 30_000).toISOString();
  const { text } = await ask(
    'wait_for_matches',
    { reader: name, wait_seconds: 0 },
    {
      ReadMatches: { matches: [], cursor: null, coverage: null },
      ListReaders: { readers: [{ ...reader, created_at, acknowledged_at: null }] },
    },
  );
  expect(text).toMatch(/has acknowledged nothing since it was created 3\d s ago[^]*Next: list_matches/);
});

test('list_matches says how to search further if it found nothing so far', async () => {
  const found = { matches: [], next_cursor: 'further', coverage: null };
  const { requests, text } = await ask('list_matches', { query: 'rare word' }, { ListMatches: found });
  expect(requests.get('ListMatches')).toMatchObject({ query: 'rare word' });
  expect(text).toContain('next_cursor: further');
  expect(text).toContain('Call again with next_cursor');
});

test('count_matches counts by hour, by day over more than two days, and totals by rule', async () => {
  const counted = async (args: object) => {
    const series = [{ counts: [1, 2] }, { counts: [4] }];
    const { requests, text } = await ask('count_matches', args, { CountMatches: { series } });
    return { step: requests.get('CountMatches')?.['step'], text };
  };
  expect(await counted({})).toMatchObject({ step: 3_600, text: expect.stringContaining('total: 7') });
  expect((await counted({ from: '7d' })).step).toBe(86_400);
  expect((await counted({ from: '3h', per: 'minute' })).step).toBe(60);
  expect((await counted({ by: 'rule' })).text).not.toContain('counts');
});

describe('times', () => {
  test('are sent as timestamps', async () => {
    const window = { from: '2026-11-15', to: '2026-11-16' };
    const read = { from: '2026-11-15T00:00:00.000Z', to: '2026-11-16T00:00:00.000Z' };
    expect((await ask('list_matches', window)).requests.get('ListMatches')).toMatchObject(read);
    expect((await ask('get_coverage', window)).requests.get('GetCoverage')).toEqual(read);
    expect((await ask('get_usage', window)).requests.get('GetUsage')).toEqual(read);
    const before = Date.now();
    const changed = await ask('update_rule', { rule_id: 'rule_1', expires_at: '30d' });
    const expiresAt = Date.parse(String(changed.requests.get('UpdateRule')?.['expires_at']));
    expect(expiresAt).toBeGreaterThanOrEqual(before + 30 * 86_400_000);
  });

  test('stay the same on all pages, because the cursor contains those of the first', async () => {
    const page = async (args: object) => {
      const { requests, text } = await ask('list_matches', { from: '2h', ...args });
      return { sent: requests.get('ListMatches'), cursor: readAnswer(text).cursor };
    };
    const first = await page({});
    const second = await page({ cursor: first.cursor });
    const { next_cursor } = operations.ListMatches.example.answer;
    expect(second.sent).toMatchObject({ from: first.sent?.['from'], cursor: next_cursor });
    expect(second.sent).not.toHaveProperty('to');
  });
});
