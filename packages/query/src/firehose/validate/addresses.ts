import { certain, error, type Fix, hint, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { escapeTerm, quote } from '../escape.ts';
import { eitherOf, isPlainValue, listItems, type PlacedAtom, type View } from './rule.ts';

/** A domain is lower case, has a dot, and neither scheme nor path; anything else never matches. */
export function domainValue(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  // quoted-wildcard.ts reports patterns in quotes.
  if (field !== 'domain' || !isPlainValue(placed) || atom.value.includes('*')) return;
  const items = listItems(atom.value);
  if (items !== null) {
    const message = `${quoted(atom.value)} is not a domain: the platform has no lists. Join the domains with OR.`;
    view.report(error('not_a_domain', message, atom.span, [certain(eitherOf(items, atom.span))]));
    return;
  }
  const host = /^(?:[a-z]+:\/\/)?([^/?#\s]+)/i.exec(atom.value)?.[1]?.toLowerCase();
  if (host === undefined) return;
  if (!host.includes('.')) {
    const message = `${quoted(atom.value)} is not a domain, so this never matches. Write the whole domain, or a pattern such as \`domain:*.${host}\`.`;
    view.report(error('not_a_domain', message, atom.span, patternFix(placed, host)));
    return;
  }
  if (host === atom.value) return;
  const fix = replace(`Use "${host}"`, atom.span, quote(host));
  if (host === atom.value.toLowerCase()) {
    const message = `Domains are lower case and compared with case, so ${quoted(atom.value)} never matches.`;
    view.report(error('upper_case_domain', message, atom.span, [certain(fix)]));
  } else {
    const message = `${quoted(atom.value)} is not a domain. Give the host name alone; for a path use \`url:*\\/path\\/*\`.`;
    const hasPath = /[^/]\/[^/]/.test(atom.value);
    view.report(error('not_a_domain', message, atom.span, [hasPath ? fix : certain(fix)]));
  }
}

function patternFix({ atom }: PlacedAtom, host: string): Fix[] {
  return /^[\w-]+$/.test(host) ? [replace(`Use *.${host}`, atom.span, `*.${host}`)] : [];
}

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
