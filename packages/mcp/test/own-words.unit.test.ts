import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';
import { readAnswer } from './injections/read-answer.ts';

const hidden = 'Cats\u202e \u{e0061}\u{e0062}\u200b<b>';
const shown = 'Cats\\u{202e} \\u{e0061}\\u{e0062}\\u{200b}<b>';

/** The example rule of the contract, with hidden characters in its name, intent and queries. */
const rule = structuredClone(operations.GetRule.example.answer);
Object.assign(rule, { name: hidden, intent: hidden });
for (const watched of Object.values(rule.platforms)) Object.assign(watched, { translated_value: hidden });

test.each([
  ['list_rules', {}, { rules: [rule], next_cursor: null }],
  ['get_rule', { rule_id: rule.id }, rule],
  ['pause_rule', { rule_id: rule.id }, rule],
])('%s escapes hidden characters in text of the account', async (name, args, answer) => {
  await using server = await connectInProcess(async () => jsonAnswer(answer));
  const result = await server.client.callTool({ name, arguments: args });
  expect(result.isError ?? false).toBe(false);
  const written = JSON.stringify(result.structuredContent);
  expect(written).toContain(JSON.stringify(shown).slice(1, -1));
  expect(JSON.stringify(result)).not.toMatch(/[\u202e\u200b\u{e0061}]/u);
});

test('list_notices marks the text of a platform as untrusted, cuts it, and escapes hidden characters', async () => {
  const [notice] = operations.ListNotices.example.answer.notices;
  const data = { platform: 'x', message: `${hidden}${'a'.repeat(1_000)}` };
  const answer = { notices: [{ ...notice, data }], next_cursor: null };
  await using server = await connectInProcess(async () => jsonAnswer(answer));
  const result = await server.client.callTool({ name: 'list_notices', arguments: {} });
  const { notices } = Object(result.structuredContent);
  expect(notices[0].untrusted.message).toMatch(/^Cats\\u\{202e\}.*a$/);
  expect(notices[0].untrusted.message.length).toBeLessThan(400);
  expect({ ...notices[0], untrusted: null }).not.toMatchObject({ data: expect.anything() });
  expect(JSON.stringify(result)).not.toMatch(/[\u202e\u200b\u{e0061}]/u);
});

test('wait_for_matches reads the matches to expand before it acknowledges them', async () => {
  const { answer } = operations.ReadMatches.example;
  const requested: string[] = [];
  await using server = await connectInProcess(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    requested.push(pathname);
    return jsonAnswer(pathname === '/api.ReadMatches' ? answer : operations.AckMatches.example.answer);
  });
  const expand = [answer.matches[0]?.id];
  const call = (more: object) =>
    server.client.callTool({ name: 'wait_for_matches', arguments: { reader: 'r', ack: 'a', ...more } });
  expect((await call({ expand })).isError ?? false).toBe(false);
  expect(requested).toEqual(['/api.ReadMatches', '/api.AckMatches']);
  // An unknown id is refused, and nothing is acknowledged.
  requested.length = 0;
  expect((await call({ expand: ['mat_none'] })).isError).toBe(true);
  expect(requested).toEqual(['/api.ReadMatches']);
});

test('wait_for_matches names the first removed matches, and does not explain silence if there are only removals', async () => {
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
