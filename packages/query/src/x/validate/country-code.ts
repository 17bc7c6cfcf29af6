import { error, replacement, warning } from '../../diagnostics.ts';
import type { LeafRule } from './rule.ts';

const instead: ReadonlyMap<string, string> = new Map([
  ['uk', 'gb'],
  ['usa', 'us'],
  ['england', 'gb'],
  ['germany', 'de'],
  ['france', 'fr'],
  ['japan', 'jp'],
  ['brazil', 'br'],
  ['canada', 'ca'],
  ['india', 'in'],
  ['norway', 'no'],
]);

/** ISO 3166-1 alpha-2. */
export const countryCode: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '') return;
  const { value } = leaf.test;
  const code = instead.get(value);
  if (code === undefined && /^[a-z]{2}$/.test(value)) return;
  const message = `place_country: takes a two-letter ISO code, for example us or de${code === undefined ? '' : `; here ${code}`}.`;
  const fixes = code === undefined ? [] : [replacement(`Write ${code}`, leaf.valueSpan, code)];
  view.report((value === 'uk' ? warning : error)('bad_country', message, leaf.valueSpan, fixes));
};
