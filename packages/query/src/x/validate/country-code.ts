import { replacement } from '../../diagnostics.ts';
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
  view.report({
    severity: value === 'uk' ? 'warning' : 'error',
    code: 'bad_country',
    message: `place_country: takes a two-letter ISO code, for example us or de${code === undefined ? '' : `; here ${code}`}.`,
    span: leaf.valueSpan,
    fixes: code === undefined ? [] : [replacement(`Write ${code}`, leaf.valueSpan, code)],
  });
};
