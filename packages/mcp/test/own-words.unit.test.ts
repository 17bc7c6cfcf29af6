import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';
import { readAnswer } from './injections/read-answer.ts';

const hidden = 'Cats\u202e \u{e0061}\u{e0062}\u200b<b>';
const shown = 'Cats\\u{202e} \\u{e0061}\\u{e0062}\\u{200b}<b>';

/** The example rule of the interface, with a name, an intent and values that hide something. */
const rule = structuredClone(operations.GetRule.example.answer);
Object.assign(rule, { name: hidden, intent: hidden });
for (const watched of Object.values(rule.platforms)) Object.assign(watched, { translated_value: hidden });

test.each([
  ['list_rules', {}, { rules: [rule], next_cursor: null }],
  ['get_rule', { rule_id: rule.id }, rule],
  ['pause_rule', { rule_id: rule.id }, rule],
])('%s hides nothing of what an account wrote, or was talked into', async (name, args, answer) => {
  await using server = await connectInProcess(async () => jsonAnswer(answer));
  const result = await server.client.callTool({ name, arguments: args });
  expect(result.isError ?? false).toBe(false);
  const written = JSON.stringify(result.structuredContent);
  expect(written).toContain(JSON.stringify(shown).slice(1, -1));
  expect(JSON.stringify(result)).not.toMatch(/[\u202e\u200b\u{e0061}]/u);
});

test('list_notices marks the words of a platform as untrusted, cut, and hides nothing of them', async () => {
  const [notice] = operations.ListNotices.example.answer.notices;
  const data = { platform: 'x', problem: `${hidden}${'a'.repeat(1_000)}` };
  const answer = { notices: [{ ...notice, data }], next_cursor: null };
  await using server = await connectInProcess(async () => jsonAnswer(answer));
  const result = await server.client.callTool({ name: 'list_notices', arguments: {} });
  const { notices } = Object(result.structuredContent);
  expect(notices[0].untrusted.problem).toMatch(/^Cats\\u\{202e\}.*a$/);
  expect(notices[0].untrusted.problem.length).toBeLessThan(400);
  expect({ ...notices[0], untrusted: null }).not.toMatchObject({ data: expect.anything() });
  expect(JSON.stringify(result)).not.toMatch(/[\u202e\u200b\u{e0061}]/u);
});

test('matches to expand are read before they are acknowledged', async () => {
  const { answer } = operations.ReadMatches.example;
  const asked: string[] = [];
  await using server = await connectInProcess(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    asked.push(pathname);
    return jsonAnswer(pathname === '/api.ReadMatches' ? answer : operations.AckMatches.example.answer);
  });
  const expand = [answer.matches[0]?.id];
  const call = (more: object) =>
    server.client.callTool({ name: 'wait_for_matches', arguments: { reader: 'r', ack: 'a', ...more } });
  expect((await call({ expand })).isError ?? false).toBe(false);
  expect(asked).toEqual(['/api.ReadMatches', '/api.AckMatches']);
  // What is not there is refused, and nothing is acknowledged.
  asked.length = 0;
  expect((await call({ expand: ['mat_none'] })).isError).toBe(true);
  expect(asked).toEqual(['/api.ReadMatches']);
});

test('matches that were taken back are named, some of them, and an answer of nothing else is not silence', async () => {
  const { answer } = operations.ReadMatches.example;
  const removed_at = '2026-11-16T09:00:00.000Z';
  const removed = Array.from({ length: 300 }, (_, n) => ({
    type: 'removed',
    match_id: `mat_${String(n).padStart(12, '0')}`,
    reason: 'deleted',
    removed_at,
  }));
  await using server = await connectInProcess(async () =>
    jsonAnswer({ ...answer, matches: [], removed, cursor: 'behind-them' }),
  );
  const result = await server.client.callTool({
    name: 'wait_for_matches',
    arguments: { reader: 'r', max_tokens: 1_000 },
  });
  const [block] = result.content;
  const text = block?.type === 'text' ? block.text : '';
  expect(readAnswer(text)).toMatchObject({ cursor: 'behind-them', matches: [] });
  expect(text).not.toContain('Next:');
  expect(text.match(/mat_\d+ \(deleted\)/g)).toHaveLength(10);
  expect(text).toContain('mat_000000000009 (deleted), and 290 more.');
  expect(server.answers.at(-1)?.length).toBeLessThan(4_000);
});
