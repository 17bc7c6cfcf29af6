import { type LeafNode, languages, requiredKeys } from '@earshot/query';
import type { Compiled } from '../match/compiled.ts';
import { longestWordOf } from '../match/words.ts';
import type { FirehoseKnobs } from './knobs.ts';
import type { FirehosePage } from './page.ts';

type DefaultOperator = FirehoseKnobs['defaultOperator'];

/** With `and`, words side by side are all required; other clauses side by side stay as they are. */
export function validateFirehoseRule(value: string, defaultOperator: DefaultOperator) {
  const isOfWords = /^[a-z]+( [a-z]+)+$/.test(value);
  return languages.firehose.validate(
    defaultOperator === 'and' && isOfWords ? value.replaceAll(' ', ' AND ') : value,
  );
}

export function compileFirehoseRule(
  value: string,
  defaultOperator: DefaultOperator = 'or',
): Compiled<FirehosePage> {
  const { canonical, root, diagnostics } = validateFirehoseRule(value, defaultOperator);
  // The platform accepts what is only suspicious.
  if (canonical === null || root === null) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    return { ok: false, details: errors.map(({ message }) => message) };
  }
  return {
    ok: true,
    matcher: { test: (page) => page.matches(root), anyOfKeys: requiredKeys(root, keyOf) },
  };
}

const diffFields = new Set(['added', 'removed', 'added_anchor', 'removed_anchor']);
const otherFieldsWithKey = new Set(['title', 'url', 'domain']);

/** The longest English stop words, such as `their`, have five letters (firehose.md §12.5). */
const stopWordLengthMax = 5;

function keyOf({ field, test }: LeafNode): string | undefined {
  const isDiff = diffFields.has(field);
  if (!isDiff && !otherFieldsWithKey.has(field)) return undefined;
  if (test.type === 'term') return longestWordOf(test.value);
  if (test.type !== 'phrase') return undefined;
  const word = longestWordOf(test.words.join(' '));
  // In a diff, a stop word of the phrase matches any word.
  return isDiff && (word?.length ?? 0) <= stopWordLengthMax ? undefined : word;
}
