import { error, hint } from '../../diagnostics.ts';
import { limits } from '../tables.ts';
import type { PlacedClause, View } from './rule.ts';
import { isEmptyPhrase } from './values.ts';

export function leafCount(view: View): void {
  const extra = view.atoms[limits.leaves];
  if (extra === undefined) return;
  const message = `The rule has ${view.atoms.length} clauses; ${limits.leaves} are allowed. Split it into several rules.`;
  view.report(error('too_many_clauses', message, [extra.clause.span[0], view.text.length]));
}

/** A rule that has only stop words matches nothing. */
export function nothingLeft(view: View): void {
  if (view.root !== null || view.clauses.length === 0) return;
  if (view.atoms.some(({ atom }) => isEmptyPhrase(atom))) return;
  const message = 'Only stop words and punctuation: nothing is left to look for. Add a distinctive word.';
  view.report(error('nothing_left', message, [0, view.text.length]));
}

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
