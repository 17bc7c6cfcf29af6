import { error } from '../../diagnostics.ts';
import type { Atom } from '../surface.ts';
import { type PlacedAtom, removal, type View } from './rule.ts';

export function emptyPhrase(placed: PlacedAtom, view: View): void {
  if (!isEmptyPhrase(placed.atom)) return;
  view.report(
    error('empty_phrase', 'There is nothing between these quotes.', placed.clause.span, removal(placed)),
  );
}

/** Other blanks, such as a no-break space, are characters to Lucene. */
export function isEmptyPhrase({ kind, value }: Atom): boolean {
  return kind === 'quoted' && /^[ \t\r\n]*$/.test(value);
}
