import { error } from '../../diagnostics.ts';
import { lengthMax } from '../tables.ts';
import type { TextRule } from './rule.ts';

/** The unit is not documented; UTF-16 units are never fewer than characters. */
export const ruleLength: TextRule = (view) => {
  const limit = lengthMax[view.tier];
  if (view.text.length <= limit) return;
  const message = `The rule has ${view.text.length} characters; X takes ${limit}. Split it into several rules.`;
  view.report(error('too_long', message, [limit, view.text.length]));
};
