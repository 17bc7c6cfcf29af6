import { type Edit, suspicious } from '../../diagnostics.ts';
import type { View } from './rule.ts';

/** Typographic quotes come from word processors and chat programs, single ones from SQL; neither makes a phrase. */
export function smartQuotes(view: View): void {
  const { foreignQuotes: places } = view;
  const [first] = places;
  if (first === undefined) return;
  if (!view.atoms.some(({ atom }) => atom.kind === 'term' && /[“”„«»'‘’]/.test(atom.value))) return;
  const edits = places.map((at): Edit => ({ span: [at, at + 1], text: '"' }));
  const message = 'Typographic and single quotes do not make a phrase. Use the straight quote `"`.';
  const fix = { title: 'Use straight quotes', certainty: 'certain', edits } as const;
  view.report(suspicious('smart_quotes', message, [first, first + 1], [fix]));
}
