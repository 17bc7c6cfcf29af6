import type { Span } from '../../ast.ts';
import { certain, error, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { closest, quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { languageLabels, pageCategoryLabels, pageTypeLabels } from '../labels.ts';
import { eitherOf, isPlainValue, listItems, type PlacedAtom, type View } from './rule.ts';

interface FoldedLabels {
  readonly byFolded: ReadonlyMap<string, string>;
  readonly byTail: ReadonlyMap<string, string>;
}

/** Caches the folded label lists. */
const folded = new WeakMap<ReadonlySet<string>, FoldedLabels>();

function labelFix(span: Span, { label, isSame }: MeantLabel): Fix {
  const fix = replace(`Use "${label}"`, span, quote(label));
  return isSame ? certain(fix) : fix;
}

export interface MeantLabel {
  readonly label: string;
  /** The same but for case, spaces and the first slash. */
  readonly isSame: boolean;
}

/** The nearest label: other case, spaces for underscores, only the last part or a word of it, or a typing error. */
function nearestLabel(view: View, typed: string, labels: ReadonlySet<string>): MeantLabel | null {
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

/** The platform may add categories, so an unknown one is only suspicious; one in another spelling never matches. */
export function pageCategory(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'page_category' || !isPlainValue(placed) || pageCategoryLabels().has(atom.value)) return;
  const meant = nearestLabel(view, atom.value, pageCategoryLabels());
  const fixes = meant === null ? [] : [labelFix(atom.span, meant)];
  const hint =
    meant === null ? 'Labels look like "/News" or "/News/Politics".' : `Did you mean "${meant.label}"?`;
  const message = `${quoted(atom.value)} is not among the known page categories. ${hint}`;
  const isWrong = meant?.isSame === true || !atom.value.startsWith('/');
  view.report((isWrong ? error : suspicious)('unknown_page_category', message, atom.span, fixes));
}

/** The list of page types is closed. */
export function pageType(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'page_type' || !isPlainValue(placed) || pageTypeLabels().has(atom.value)) return;
  const meant = nearestLabel(view, atom.value, pageTypeLabels());
  const fixes = meant === null ? [] : [labelFix(atom.span, meant)];
  const hint =
    meant === null
      ? 'Labels look like "/Article" or "/Article/News_Update".'
      : `Did you mean "${meant.label}"?`;
  const message = `There is no page type ${quoted(atom.value)}, so this never matches. ${hint}`;
  view.report(error('unknown_page_type', message, atom.span, fixes));
}

const names: ReadonlyMap<string, string> = new Map([
  ['arabic', 'ar'],
  ['bengali', 'bn'],
  ['chinese', 'zh-cn'],
  ['czech', 'cs'],
  ['danish', 'da'],
  ['deutsch', 'de'],
  ['dutch', 'nl'],
  ['english', 'en'],
  ['finnish', 'fi'],
  ['french', 'fr'],
  ['german', 'de'],
  ['greek', 'el'],
  ['hebrew', 'he'],
  ['hindi', 'hi'],
  ['italian', 'it'],
  ['jp', 'ja'],
  ['japanese', 'ja'],
  ['korean', 'ko'],
  ['kr', 'ko'],
  ['nb', 'no'],
  ['norwegian', 'no'],
  ['polish', 'pl'],
  ['portuguese', 'pt'],
  ['russian', 'ru'],
  ['spanish', 'es'],
  ['swedish', 'sv'],
  ['turkish', 'tr'],
  ['ua', 'uk'],
  ['ukrainian', 'uk'],
  ['zh', 'zh-cn'],
  ['zh-hans', 'zh-cn'],
  ['zh-hant', 'zh-tw'],
  ['zh-hk', 'zh-tw'],
]);

/** The list of codes is closed and compared with case. */
export function languageCode(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  const labels = languageLabels();
  if (field !== 'language' || !isPlainValue(placed) || labels.has(atom.value)) return;
  const lower = atom.value.trim().toLowerCase().replace('_', '-');
  const meant = [lower, names.get(lower), lower.split('-')[0]].find(
    (code) => code !== undefined && labels.has(code),
  );
  const fixes = meant === undefined ? [] : [certain(replace(`Use "${meant}"`, atom.span, quote(meant)))];
  const items = listItems(atom.value);
  if (items?.every((item) => labels.has(item))) fixes.push(certain(eitherOf(items, atom.span)));
  const hint = meant === undefined ? `Known codes: ${[...labels].join(' ')}.` : `Did you mean "${meant}"?`;
  const message = `${quoted(atom.value)} is not a language code of the platform, so this never matches. ${hint}`;
  view.report(error('unknown_language', message, atom.span, fixes));
}
