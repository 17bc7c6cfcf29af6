import { certain, error, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { fields } from '../tables.ts';
import type { PlacedAtom, View } from './rule.ts';

/** The classic syntax has no `>=`: it would be looked up as a word. */
export function comparison({ atom, field, clause }: PlacedAtom, view: View): void {
  if (atom.kind !== 'term' || clause.field === null || fields.get(field)?.type === 'text') return;
  const found = /^([<>])(=?)(.*)$/.exec(atom.value);
  if (found === null) return;
  const [, sign = '', equal = '', rest = ''] = found;
  const bound = /^[\w.-]+$/.test(rest) ? rest : quote(rest);
  const range =
    sign === '>' ? `${equal === '' ? '{' : '['}${bound} TO *]` : `[* TO ${bound}${equal === '' ? '}' : ']'}`;
  const fix = replace(`Write ${field}:${range}`, atom.span, range);
  // After a day may begin with the day or behind it.
  const fixes = rest === '' ? [] : [field === 'dr' ? certain(fix) : fix];
  const message = `${quoted(sign + equal)} is not an operator here. Compare with a range such as \`${field}:[low TO high]\`.`;
  view.report(error('comparison_operator', message, atom.span, fixes));
}
