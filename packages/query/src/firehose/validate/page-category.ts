import { error, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { pageCategoryLabels } from '../labels.ts';
import { labelFix, nearestLabel } from './label.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** The platform may add categories, so an unknown one is only suspicious; one in another spelling never matches. */
export function pageCategory(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'page_category' || !isPlainValue(placed) || pageCategoryLabels().has(atom.value)) return;
  const meant = nearestLabel(view, atom.value, pageCategoryLabels());
  const fixes = meant === null ? [] : [labelFix(atom.span, meant)];
  const hint =
    meant === null ? 'Labels look like "/News" or "/News/Politics".' : `Did you mean "${meant.label}"?`;
  const message = `${quoted(atom.value)} is not among the known page categories. ${hint}`;
  const isWrong = meant?.isSame === true || !atom.value.startsWith('/');
  view.report((isWrong ? error : suspicious)('unknown_page_category', message, atom.span, fixes));
}
