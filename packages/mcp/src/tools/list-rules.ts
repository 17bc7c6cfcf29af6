import { integer, requestObject } from '@earshot/contract';
import type { Rule } from '@earshot/sdk';
import { z } from 'zod';
import { estimateTokens } from '../content/estimate-tokens.ts';
import { writeReadable } from '../content/readable.ts';
import { unhidden } from '../content/visible.ts';
import { maxTokens } from '../match-answers.ts';
import { perPlatform } from '../per-platform.ts';
import { listeningWords } from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

/** A list shows this much of a text; get_rule has all of it. The minimum is for a single rule that would not fit otherwise. */
const excerptChars = 200;
const excerptCharsMin = 10;

const listed = z.object({
  id: z.string(),
  name: z.string(),
  intent: z.string(),
  state: z.string(),
  platforms: z.record(z.string(), z.looseObject({ listening: z.string() })),
});

const output = z.object({
  shown: z.int(),
  next_cursor: z.string().nullable(),
  rules: z.array(listed),
});

export const listRules = defineTool({
  name: 'list_rules',
  title: 'List rules',
  description: 'Rules, newest first. Long texts are cut; get_rule has all.',
  annotations: readsOnly,
  operation: 'ListRules',
  input: requestObject({
    limit: integer(1, 100).default(20),
    cursor: z.string().optional(),
    max_tokens: maxTokens,
  }),
  output,
  async run({ limit, cursor, max_tokens }, { earshot, signal }) {
    // A client may show its model either half, or both.
    const tokensOf = (structured: object) =>
      estimateTokens(JSON.stringify(structured)) + estimateTokens(JSON.stringify(writeReadable(structured)));
    // Only the server can create a cursor for the end of a page. If a page does not fit, request a shorter one.
    for (let count = limit; ; ) {
      const request = { limit: count, ...(cursor !== undefined && { cursor }) };
      const { rules, next_cursor } = await earshot.listRules(request, { signal });
      const answer = (chars: number) => ({
        shown: rules.length,
        next_cursor,
        rules: rules.map((rule) => toListed(rule, chars)),
      });
      const tokens = tokensOf(answer(excerptChars));
      if (tokens <= max_tokens) return { structured: answer(excerptChars) };
      if (rules.length <= 1) return { structured: answer(excerptCharsMin) };
      count = Math.max(1, Math.min(rules.length - 1, Math.floor((rules.length * max_tokens) / tokens)));
    }
  },
});

function toListed({ id, name, intent, state, platforms }: Rule, chars: number): z.output<typeof listed> {
  return {
    id,
    name: cut(name, chars),
    intent: cut(intent, chars),
    state,
    platforms: perPlatform(
      platforms,
      ({ status, listening, translated_value, match_count, last_match_at }) => ({
        status,
        listening: listeningWords(listening),
        translated_value: cut(translated_value, chars),
        match_count,
        last_match_at,
      }),
    ),
  };
}

function cut(text: string, chars: number): string {
  return unhidden(text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}…`);
}
