import { expect, test } from 'vitest';
import { xLanguage } from '../../src/x/language.ts';
import { upstreamDetails } from '../../src/x/upstream-details.ts';

test.each([
  [
    '-glacier',
    [
      'Rules must contain a non-negation term (at position 1)',
      'Rules must contain at least one positive, non-stopword clause (at position 1)',
    ],
  ],
  [
    'glacier and lake',
    [
      'Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "and" to find occurrences of and in text (at position 9)',
    ],
  ],
  ['has:media', ["The 'has' operator cannot be used as a standalone operator (at position 1)"]],
  [
    'ice frm:x',
    [
      "Reference to invalid operator 'frm' (at position 5)",
      "Reference to invalid field 'frm' (at position 5)",
    ],
  ],
  ['glacier)', ["missing EOF at ')' (at position 8)"]],
  ['(glacier', ["mismatched input 'EOF' expecting ')' (at position 9)"]],
  ["'blue ice' lake", ["no viable alternative at character ''' (at position 1)"]],
  ['from:@acme_sky', ["Cannot parse rule at '@acme_sky' (position 6)"]],
  ['glacier OR lake -is:retweet', []],
])('X would say about %s: %j', (rule, expected) => {
  expect(upstreamDetails(rule, xLanguage.validate(rule).diagnostics)).toEqual(expected);
});
