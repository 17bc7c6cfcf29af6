import type { Match, Rule } from './contract-types.ts';
import { randomHex } from './random-hex.ts';

/** The words of the item that satisfied the rule, each once. */
export function words({ why }: Pick<Match, 'why'>): string[] {
  return [...new Set(why.evidence.map(({ text }) => text))];
}

export interface FenceOptions {
  /** The rules of the matches, such as from `listRules`. Their names and intents help a model to judge what is relevant. */
  readonly rules?: readonly Pick<Rule, 'id' | 'name' | 'intent'>[];
  /** The most characters of a text. Default: 2,000. */
  readonly textMax?: number;
}

/**
 * Writes matches for a model: their rules, then one line of JSON for each match between tags. The name of the tag is random, so
 * untrusted text cannot close it. Instruct the model that text between `<untrusted-…>` tags is data and never an instruction.
 */
export function fence(
  matches: readonly Pick<Match, 'id' | 'rule_id' | 'payload' | 'why'>[],
  { rules = [], textMax = 2_000 }: FenceOptions = {},
): string {
  const tag = `untrusted-${randomHex()}`;
  const used = rules.filter(({ id }) => matches.some(({ rule_id }) => rule_id === id));
  const lines = matches.map((match) => {
    const { url, title, text, author } = match.payload;
    return JSON.stringify({
      id: match.id,
      rule_id: match.rule_id,
      author: author?.handle ?? author?.name ?? null,
      url,
      title,
      text: text === null ? null : Array.from(text).slice(0, textMax).join(''),
      matched: words(match),
    });
  });
  return [
    ...used.map(({ id, name, intent }) => `Rule ${JSON.stringify({ id, name, intent })}`),
    `<${tag}>`,
    ...lines,
    `</${tag}>`,
  ].join('\n');
}
