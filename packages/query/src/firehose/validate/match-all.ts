import { warning } from '../../diagnostics.ts';
import { type PlacedAtom, removal, type View } from './rule.ts';

/** A clause without effect. Alone it makes a rule that matches everything, which breadth.ts reports. */
export function matchAll(placed: PlacedAtom, view: View): void {
  const { atom, field, clause } = placed;
  if (atom.kind !== 'wildcard' || atom.value !== '*' || !/^(?:\*|url|domain)$/.test(field)) return;
  const what = field === '*' ? 'Every page matches this' : `Every page has a ${field}`;
  const message = `${what}, so it is always true. Remove it, or say what is wanted.`;
  view.report(warning('always_true', message, clause.span, removal(placed)));
}
