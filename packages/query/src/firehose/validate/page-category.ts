import { replace, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { pageCategoryLabels } from '../labels.ts';
import { nearestLabel } from './label.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** Only a warning: the platform may add categories. */
export function pageCategory(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'page_category' || !isPlainValue(placed) || pageCategoryLabels().has(atom.value)) return;
  const meant = nearestLabel(view, atom.value, pageCategoryLabels());
  const fixes = meant === null ? [] : [replace(`Use "${meant}"`, atom.span, quote(meant))];
  const hint = meant === null ? 'Labels look like "/News" or "/News/Politics".' : `Did you mean "${meant}"?`;
  const message = `${quoted(atom.value)} is not among the known page categories. ${hint}`;
  view.report(warning('unknown_page_category', message, atom.span, fixes));
}
