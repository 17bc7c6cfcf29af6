import { lengthMax } from '../tables.ts';
import type { TextRule } from './rule.ts';

/** The unit is not documented; UTF-16 units are never fewer than characters. */
export const ruleLength: TextRule = (place) => {
  const limit = lengthMax[place.tier];
  if (place.text.length <= limit) return;
  place.report({
    severity: 'error',
    code: 'too_long',
    message: `The rule has ${place.text.length} characters; X takes ${limit}. Split it into several rules.`,
    span: [limit, place.text.length],
    fixes: [],
  });
};
