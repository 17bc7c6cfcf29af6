import { error, warning } from '../../diagnostics.ts';
import { type PlacedAtom, removal, type View } from './rule.ts';

/** Every delivered page is billed, so a rule that matches everything is refused. */
export function matchAll(placed: PlacedAtom, view: View): void {
  const { atom, field, clause } = placed;
  if (atom.kind !== 'wildcard' || atom.value !== '*') return;
  if (field === '*') {
    const message = '`*:*` matches every page of the crawl, and each one is billed. Say what to look for.';
    view.report(error('match_all', message, clause.span, removal(placed)));
  } else if (field === 'url' || field === 'domain') {
    const message = `Every page has a ${field}, so this is always true. Remove it, or say which ${field} is wanted.`;
    view.report(warning('always_true', message, clause.span, removal(placed)));
  }
}
