import { certain, error, type Fix, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import type { RangeBounds } from '../surface.ts';
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

/** `dr` is a number from 0 to 100 and is only documented with ranges. */
export function domainRating({ atom, field }: PlacedAtom, view: View): void {
  if (field !== 'dr' || /^[<>]/.test(atom.value)) return;
  if (atom.range === null) {
    const isNumber = isRating(atom.value);
    const fixes = isNumber ? exactFixes(atom.value, atom.span) : [];
    const message =
      'A Domain Rating is compared with a range of numbers, for example `dr:[60 TO 100]` or `dr:[60 TO *]`.';
    view.report(error('bad_domain_rating', message, atom.span, fixes));
  } else if (!isRatingRange(atom.range)) {
    const message = 'The bounds of `dr` are numbers from 0 to 100 (or `*`), the lower one first.';
    view.report(error('bad_domain_rating', message, atom.span, swapFixes(atom.range, atom.span)));
  }
}

function isRating(value: string | null): boolean {
  return value === null || (/^[0-9]{1,3}(?:\.[0-9]+)?$/.test(value) && Number(value) <= 100);
}

function isRatingRange({ low, high }: RangeBounds): boolean {
  if (!isRating(low) || !isRating(high)) return false;
  return low === null || high === null || Number(low) <= Number(high);
}

function exactFixes(value: string, span: PlacedAtom['atom']['span']): Fix[] {
  return [
    replace(`${value} and above`, span, `[${value} TO *]`),
    replace(`Exactly ${value}`, span, `[${value} TO ${value}]`),
  ];
}

function swapFixes({ low, high }: RangeBounds, span: PlacedAtom['atom']['span']): Fix[] {
  if (low === null || high === null || !isRating(low) || !isRating(high)) return [];
  return [certain(replace('Swap the bounds', span, `[${high} TO ${low}]`))];
}
