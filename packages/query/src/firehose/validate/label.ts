import { closest } from '../../text.ts';
import type { View } from './rule.ts';

interface FoldedLabels {
  readonly byFolded: ReadonlyMap<string, string>;
  readonly byTail: ReadonlyMap<string, string>;
}

/** Caches the folded label lists. */
const folded = new WeakMap<ReadonlySet<string>, FoldedLabels>();

/** The nearest label: other case, spaces for underscores, only the last part, or a typing error. */
export function nearestLabel(view: View, typed: string, labels: ReadonlySet<string>): string | null {
  if (view.suggestionsLeft <= 0) return null;
  view.suggestionsLeft -= 1;
  const { byFolded, byTail } = foldedOf(labels);
  const path = `/${fold(typed).replace(/^\/+/, '')}`;
  return byFolded.get(path) ?? byTail.get(path) ?? closest(path, labels);
}

function foldedOf(labels: ReadonlySet<string>): FoldedLabels {
  const known = folded.get(labels);
  if (known !== undefined) return known;
  const byFolded = new Map<string, string>();
  const byTail = new Map<string, string>();
  for (const label of labels) {
    const path = fold(label);
    byFolded.set(path, label);
    const tail = path.slice(path.lastIndexOf('/'));
    if (!byTail.has(tail)) byTail.set(tail, label);
  }
  const made = { byFolded, byTail };
  folded.set(labels, made);
  return made;
}

function fold(label: string): string {
  return label
    .slice(0, 200)
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
    .replaceAll('&', 'and')
    .replace(/\/$/, '');
}
