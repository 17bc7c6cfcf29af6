import { operations } from '@earshot/contract';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';
import { readAnswer } from './injections/read-answer.ts';
import { typicalMatches } from './typical-matches.ts';

/** How many matches fit if each is shown as JSON and as a text block. */
const before: Readonly<Record<number, number>> = { 1_000: 1, 2_000: 2, 5_000: 7 };

/**
 * Counted with o200k, the tokenizer of some models, as an approximation for the others. Estimates for English are higher, so
 * the answers are shorter than `max_tokens` allows.
 */
test('5,000 tokens hold at least 40 of 100 typical matches', async () => {
  const matches = typicalMatches();
  const names = ['Launches', 'Heat pump recalls', 'Outages of our cloud'];
  const ids = [...new Set(matches.map(({ rule_id }) => rule_id))];
  const rules = ids.map((id, index) => ({ ...operations.GetRule.example.answer, id, name: names[index] }));
  await using server = await connectInProcess(async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname !== '/matches') return jsonAnswer({ rules, next_cursor: null });
    const { limit } = JSON.parse(typeof init?.body === 'string' ? init.body : '{}');
    return jsonAnswer({
      matches: matches.slice(0, limit),
      next_cursor: `cMTk4OTQ3MjUx${'xQ7_'.repeat(8)}`,
      coverage: null,
    });
  });
  const rows = ['max_tokens  JSON and text  lines  tokens used by lines'];
  for (const max of [1_000, 2_000, 5_000]) {
    const args = { limit: 100, max_tokens: max };
    const result = await server.client.callTool({ name: 'list_matches', arguments: args });
    const [block] = result.content;
    const text = block?.type === 'text' ? block.text : '';
    const tokens = countTokens(server.answers.at(-1) ?? '');
    const { shown } = readAnswer(text).counts;
    rows.push([max, before[max], shown, tokens].map((figure) => String(figure).padStart(8)).join(''));
    expect(tokens).toBeLessThanOrEqual(max);
    if (max === 5_000) expect(shown).toBeGreaterThanOrEqual(40);
  }
  // oxlint-disable-next-line no-console -- the figures are what this test is for
  console.log(rows.join('\n'));
});
