import { certain, error, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { fields } from '../tables.ts';
import type { PlacedAtom, View } from './rule.ts';

/** `dr:>60` and `dr>60`. The classic syntax has no comparisons: they would be looked up as words. */
export function comparison(placed: PlacedAtom, view: View): void {
  const { atom, clause } = placed;
  const found = comparisonOf(placed);
  if (found === null) return;
  const [, field = '', sign = '', equal = '', rest = ''] = found;
  const bound = /^[\w.-]+$/.test(rest) ? rest : quote(rest);
  const range =
    sign === '>' ? `${equal === '' ? '{' : '['}${bound} TO *]` : `[* TO ${bound}${equal === '' ? '}' : ']'}`;
  const written = `${field}:${range}`;
  const fix = replace(`Write ${written}`, atom.span, clause.field === null ? written : range);
  // After a day may begin with the day or behind it.
  const fixes = rest === '' ? [] : [field === 'dr' ? certain(fix) : fix];
  const message = `${quoted(sign + equal)} is not an operator here. Compare with a range such as \`${field}:[low TO high]\`.`;
  view.report(error('comparison_operator', message, atom.span, fixes));
}

/** Field, sign, equal sign and bound. */
export function comparisonOf({ atom, clause, field }: PlacedAtom): RegExpExecArray | null {
  if (atom.kind !== 'term') return null;
  const found = /^(\w+)([<>])(=?)(.*)$/.exec(clause.field === null ? atom.value : field + atom.value);
  const type = fields.get(found?.[1] ?? '')?.type;
  return type === undefined || type === 'text' ? null : found;
}
