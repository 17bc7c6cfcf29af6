import { certain, error, type Fix, replace } from '../../diagnostics.ts';
import type { RangeBounds } from '../surface.ts';
import type { PlacedAtom, View } from './rule.ts';

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
