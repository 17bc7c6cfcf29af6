import { warning } from '../../diagnostics.ts';
import type { View } from './rule.ts';

/** Typographic quotes come from word processors and chat programs and do not make a phrase. */
export function smartQuotes(view: View): void {
  if (!/[“”„«»]/.test(view.text)) return;
  const first = view.atoms.find(({ atom }) => atom.kind === 'term' && /[“”„«»]/.test(atom.value));
  if (first === undefined) return;
  const edits = [...view.text.matchAll(/[“”„«»]/g)].map((found) => ({
    span: [found.index, found.index + 1] as const,
    text: '"',
  }));
  const at = edits.find(({ span }) => span[0] >= first.atom.span[0])?.span ?? first.atom.span;
  const message = 'Typographic quotes do not make a phrase. Use the straight quote `"`.';
  view.report(warning('smart_quotes', message, at, [{ title: 'Use straight quotes', edits }]));
}
