import { error, replacement } from '../../diagnostics.ts';
import type { LeafRule } from './rule.ts';

/** domain.entity, with `*` for one of the two. */
export const contextValue: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'opaque' || leaf.test.value === '') return;
  const domain = /^\d{1,20}$/.exec(leaf.test.value)?.[0];
  const message =
    'context: takes the numbers domain.entity, for example 47.10045225402, 47.* or *.10045225402.';
  const fixes = domain === undefined ? [] : [replacement(`Write ${domain}.*`, leaf.valueSpan, `${domain}.*`)];
  view.report(error('bad_context', message, leaf.valueSpan, fixes));
};
