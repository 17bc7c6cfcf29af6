import { error, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { pageTypeLabels } from '../labels.ts';
import { nearestLabel } from './label.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** The list of page types is closed. */
export function pageType(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'page_type' || !isPlainValue(placed) || pageTypeLabels().has(atom.value)) return;
  const meant = nearestLabel(view, atom.value, pageTypeLabels());
  const fixes = meant === null ? [] : [replace(`Use "${meant}"`, atom.span, quote(meant))];
  const hint =
    meant === null ? 'Labels look like "/Article" or "/Article/News_Update".' : `Did you mean "${meant}"?`;
  const message = `There is no page type ${quoted(atom.value)}, so this never matches. ${hint}`;
  view.report(error('unknown_page_type', message, atom.span, fixes));
}
