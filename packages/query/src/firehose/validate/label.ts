import type { Span } from '../../ast.ts';
import { certain, type Fix, replace } from '../../diagnostics.ts';
import { closest } from '../../text.ts';
import { quote } from '../escape.ts';
import type { View } from './rule.ts';

interface FoldedLabels {
  readonly byFolded: ReadonlyMap<string, string>;
  readonly byTail: ReadonlyMap<string, string>;
}

/** Caches the folded label lists. */
const folded = new WeakMap<ReadonlySet<string>, FoldedLabels>();

export function labelFix(span: Span, { label, isSame }: MeantLabel): Fix {
  const fix = replace(`Use "${label}"`, span, quote(label));
  return isSame ? certain(fix) : fix;
}

export interface MeantLabel {
  readonly label: string;
  /** The same but for case, spaces and the first slash. */
  readonly isSame: boolean;
}

/** The nearest label: other case, spaces for underscores, only the last part or a word of it, or a typing error. */
export function nearestLabel(view: View, typed: string, labels: ReadonlySet<string>): MeantLabel | null {
  if (view.suggestionsLeft <= 0) return null;
  view.suggestionsLeft -= 1;
  const { byFolded, byTail } = foldedOf(labels);
  const path = `/${fold(typed).replace(/^\/+/, '')}`;
  const same = byFolded.get(path);
  if (same !== undefined) return { label: same, isSame: true };
  const near =
    byTail.get(path) ?? withWord(path, byFolded) ?? closest(path, labels) ?? anyWord(path, byFolded) ?? null;
  return near === null ? null : { label: near, isSame: false };
}

/** `/News/Technology` for `/News/Technology_News`. */
function withWord(path: string, byFolded: FoldedLabels['byFolded']): string | undefined {
  const [parent, word] = [path.slice(0, path.lastIndexOf('/') + 1), path.slice(path.lastIndexOf('/') + 1)];
  if (parent === '/' || word === '') return undefined;
  for (const [folded, label] of byFolded) {
    const rest = folded.startsWith(parent) ? folded.slice(parent.length) : '/';
    if (!rest.includes('/') && rest.split('_').includes(word)) return label;
  }
  return undefined;
}

/** `/Article/How_To_Guide` for `/Guide`: the first label with the word in any part. */
function anyWord(path: string, byFolded: FoldedLabels['byFolded']): string | undefined {
  const word = path.slice(1);
  if (!/^[a-z]{3,}$/.test(word)) return undefined;
  for (const [folded, label] of byFolded) if (folded.split(/[/_]/).includes(word)) return label;
  return undefined;
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
