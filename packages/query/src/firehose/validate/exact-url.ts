import { error, hint, replace } from '../../diagnostics.ts';
import { escapeTerm } from '../escape.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** The field holds the whole URL, so a value or pattern must begin as one does. */
export function exactUrl(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'url' || (atom.kind === 'quoted' && atom.value.includes('*'))) return;
  if (cannotBegin(placed)) {
    const message =
      'The field holds the whole URL, from https on, so this never matches. Write `url:*part*`.';
    view.report(error('not_a_url', message, atom.span, partFix(placed, view)));
  } else if (isPlainValue(placed)) {
    const message =
      'A rule never causes a page to be fetched: this waits until the crawler visits exactly this URL. To watch one page, use the URL Watch of the platform.';
    view.report(hint('exact_url', message, atom.span));
  }
}

function cannotBegin({ atom }: PlacedAtom): boolean {
  // A fuzzy word may be near one that begins so.
  if (atom.kind === 'range' || (atom.kind === 'term' && atom.slop !== null)) return false;
  if (atom.kind === 'regex') return /^(?:\\\/|[a-gi-z0-9])[^|]*$/i.test(atom.value);
  return !/^(?:[*?]|h[t*?])/.test(atom.value);
}

function partFix({ atom }: PlacedAtom, view: View) {
  const written = view.text.slice(...atom.span);
  const part =
    atom.kind === 'regex'
      ? `/.*${atom.value}.*/`
      : atom.kind === 'prefix' || atom.kind === 'wildcard'
        ? `*${written}`
        : `*${escapeTerm(atom.value)}*`;
  return [replace(`Write ${part.length > 40 ? '*part*' : part}`, atom.span, part)];
}
