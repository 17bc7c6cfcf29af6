import { hint } from '../../diagnostics.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

export function exactUrl(placed: PlacedAtom, view: View): void {
  if (placed.field !== 'url' || !isPlainValue(placed)) return;
  const message =
    'A rule never causes a page to be fetched: this waits until the crawler visits exactly this URL. To watch one page, use the URL Watch of the platform.';
  view.report(hint('exact_url', message, placed.atom.span));
}
