import { error, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { type PlacedAtom, removal, type View } from './rule.ts';

/** Named filters live in the platform's dashboard; their text cannot be read through its interface. */
export function filterReference(placed: PlacedAtom, view: View): void {
  const { atom, clause } = placed;
  if (!atom.value.startsWith('$') || atom.kind !== 'term' || clause.field !== null) return;
  if (!/^\$[A-Za-z][\w-]*$/.test(atom.value)) return;
  const message = `The filter ${quoted(atom.value)} is not known here. Write its clauses into the rule; for a ticker search its letters.`;
  const ticker = /^\$([A-Z]{1,6})$/.exec(atom.value)?.[1];
  const word = ticker === undefined ? [] : [replace(`Search for "${ticker}"`, atom.span, `"${ticker}"`)];
  const fixes = [...word, ...removal(placed, 'Remove the filter')];
  view.report(error('unresolved_filter', message, atom.span, fixes));
}
