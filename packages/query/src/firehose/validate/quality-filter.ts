import { hint } from '../../diagnostics.ts';
import type { PlacedClause, View } from './rule.ts';

const oldPages = /(?:pric|plan|term|privacy|status|career|jobs|docs)/i;

/** Clauses of rules that watch existing pages. */
function watchesPages({ field, clause: { body } }: PlacedClause): boolean {
  if (field === 'removed' || field === 'removed_anchor') return true;
  if (body.type !== 'atom') return false;
  if (field === 'url') return oldPages.test(body.value);
  return field === 'page_type' && /^\/(?:Landing_Page|Core_Page)/.test(body.value);
}

/** A pricing page was published years ago. */
export function qualityFilter(view: View): void {
  const found = view.clauses.find(
    (placed) => placed.clause.modifier?.kind !== 'prohibit' && watchesPages(placed),
  );
  if (found === undefined) return;
  const message =
    'By default the quality filter keeps only pages published in the last 7 days. To get changes of older pages, such as a pricing page, set `options.firehose.quality` to false.';
  view.report(hint('quality_filter', message, found.clause.span));
}
