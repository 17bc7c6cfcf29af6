import { operations } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';
import { readAnswer } from './injections/read-answer.ts';

/** Calls a tool, and says what it asked of the API: the last request, and the text of the answer. */
async function ask(tool: string, args: object, answers: Readonly<Record<string, object>> = {}) {
  const asked = new Map<string, Record<string, unknown>>();
  await using server = await connectInProcess(async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const operation = Object.values(operations).find(({ path }) => path === pathname);
    asked.set(operation?.id ?? pathname, JSON.parse(typeof init?.body === 'string' ? init.body : '{}'));
    return jsonAnswer({ ...operation?.example.answer, ...answers[operation?.id ?? ''] });
  });
  const result = await server.client.callTool({ name: tool, arguments: { ...args } });
  expect(result.isError ? result.content : []).toEqual([]);
  const [block] = result.content;
  return { asked, text: block?.type === 'text' ? block.text : '' };
}

const examples = { must_match: [{ platform: 'x', payload: { text: 'a' } }], must_not_match: [] };
const options = { firehose: { quality: false } };

describe('update_rule', () => {
  const update = async (args: object) =>
    (await ask('update_rule', { rule_id: 'rule_1', ...args })).asked.get('UpdateRule');

  test('sends new values alone, also when their platforms are named beside them', async () => {
    const overrides = { x: 'a' };
    for (const args of [{ overrides }, { platforms: ['x'], overrides }])
      expect(await update(args)).toEqual({ rule_id: 'rule_1', overrides });
  });

  test('sends platforms that say something else than the values: to leave some, or for the API to refuse', async () => {
    for (const args of [{ platforms: ['x'] }, { platforms: ['x', 'firehose'], overrides: { x: 'a' } }])
      expect(await update(args)).toEqual({ rule_id: 'rule_1', ...args });
  });

  test('sends options and examples as they are', async () => {
    expect(await update({ options, examples })).toMatchObject({ options, examples });
    expect(await update({ examples: null })).toMatchObject({ examples: null });
  });
});

test('create_rule and validate_rule send examples', async () => {
  const draft = { platforms: ['x'], overrides: { x: 'a' } };
  const created = await ask('create_rule', { name: 'a', intent: 'b', ...draft, options, examples });
  expect(created.asked.get('CreateRule')).toMatchObject({ examples, options });
  const failing = [{ field: 'examples.must_match[0]', code: 'example_failed', message: 'Does not match.' }];
  const checked = await ask(
    'validate_rule',
    { ...draft, examples },
    { ValidateRule: { example_violations: failing } },
  );
  expect(checked.asked.get('ValidateRule')).toMatchObject({ examples });
  expect(checked.text).toContain('- field examples.must_match[0], message "Does not match."');
});

test('wait_for_matches begins now, unless it is told otherwise', async () => {
  const started = async (args: object) =>
    (await ask('wait_for_matches', { reader: 'r', ...args })).asked.get('ReadMatches')?.['start'];
  expect(await started({})).toBe('now');
  expect(await started({ start: 'oldest' })).toBe('oldest');
});

describe('times', () => {
  test('are sent as the API takes them', async () => {
    const list = (await ask('list_matches', { since: '2026-11-15', until: '2026-11-16T00:00:00Z' })).asked;
    expect(list.get('ListMatches')).toMatchObject({
      since: '2026-11-15T00:00:00.000Z',
      until: '2026-11-16T00:00:00.000Z',
    });
    const window = { from: '2026-11-15', to: '2026-11-16' };
    const read = { from: '2026-11-15T00:00:00.000Z', to: '2026-11-16T00:00:00.000Z' };
    expect((await ask('get_coverage', window)).asked.get('GetCoverage')).toEqual(read);
    expect((await ask('get_usage', window)).asked.get('GetUsage')).toEqual(read);
    const before = Date.now();
    const changed = await ask('update_rule', { rule_id: 'rule_1', expires_at: '30d' });
    const expiresAt = Date.parse(String(changed.asked.get('UpdateRule')?.['expires_at']));
    expect(expiresAt).toBeGreaterThanOrEqual(before + 30 * 86_400_000);
  });

  test('stay the same from page to page: the cursor has those of the first', async () => {
    const since = async (args: object) => {
      const { asked, text } = await ask('list_matches', { since: '2h', ...args });
      return { sent: asked.get('ListMatches'), cursor: readAnswer(text).cursor };
    };
    const first = await since({});
    const second = await since({ cursor: first.cursor });
    const { next_cursor } = operations.ListMatches.example.answer;
    expect(second.sent).toMatchObject({ since: first.sent?.['since'], cursor: next_cursor });
    expect(second.sent).not.toHaveProperty('until');
  });
});
