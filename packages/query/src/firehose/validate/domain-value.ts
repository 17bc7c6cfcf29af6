import { error, replace, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** A domain is lower case and has neither scheme nor path. */
export function domainValue(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'domain') return;
  if (atom.kind === 'wildcard' && atom.value.startsWith('*')) leadingWildcard(placed, view);
  if (!isPlainValue(placed)) return;
  const host = /^(?:[a-z]+:\/\/)?([^/?#\s]+)/i.exec(atom.value)?.[1]?.toLowerCase();
  if (host === undefined || host === atom.value) return;
  const fixes = [replace(`Use "${host}"`, atom.span, quote(host))];
  if (host === atom.value.toLowerCase()) {
    const message = `Domains are lower case and compared with case, so ${quoted(atom.value)} never matches.`;
    view.report(warning('upper_case_domain', message, atom.span, fixes));
  } else {
    const message = `${quoted(atom.value)} is not a domain. Give the host name alone; for a path use \`url:*\\/path\\/*\`.`;
    view.report(error('not_a_domain', message, atom.span, fixes));
  }
}

function leadingWildcard({ atom }: PlacedAtom, view: View): void {
  const rest = atom.value.replace(/^\*\.?/, '');
  const fixes = /^[\w-]+(?:\.[\w-]+)+$/.test(rest) ? [replace(`Use "${rest}"`, atom.span, quote(rest))] : [];
  const message =
    'The domain field already holds the parent domains, so the plain domain finds its sub-domains too.';
  view.report(warning('leading_wildcard_domain', message, atom.span, fixes));
}
