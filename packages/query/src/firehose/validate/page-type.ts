import { error } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { pageTypeLabels } from '../labels.ts';
import { labelFix, nearestLabel } from './label.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** The list of page types is closed. */
export function pageType(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'page_type' || !isPlainValue(placed) || pageTypeLabels().has(atom.value)) return;
  const meant = nearestLabel(view, atom.value, pageTypeLabels());
  const fixes = meant === null ? [] : [labelFix(atom.span, meant)];
  const hint =
    meant === null
      ? 'Labels look like "/Article" or "/Article/News_Update".'
      : `Did you mean "${meant.label}"?`;
  const message = `There is no page type ${quoted(atom.value)}, so this never matches. ${hint}`;
  view.report(error('unknown_page_type', message, atom.span, fixes));
}
