import { certain, error, replace, warning } from '../../diagnostics.ts';
import { quote } from '../escape.ts';
import type { Atom } from '../surface.ts';
import { fields } from '../tables.ts';
import { isGlued } from './glued-regex.ts';
import type { PlacedAtom, View } from './rule.ts';

const kindNames: Readonly<Record<Exclude<Atom['kind'], 'quoted' | 'lone_sign'>, string>> = {
  prefix: 'A wildcard',
  wildcard: 'A wildcard',
  regex: 'A regular expression',
  range: 'A range',
  term: 'A fuzzy word',
};

/** Patterns are documented for `url` and `domain`, ranges for `publish_time` and `dr`. */
export function patternUse(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  const row = fields.get(field);
  const plain =
    atom.kind === 'quoted' || atom.kind === 'lone_sign' || (atom.kind === 'term' && atom.slop === null);
  if (row === undefined || plain || row.type === 'number' || row.type === 'filter') return;
  const name = kindNames[atom.kind];
  if (row.labels !== undefined) labelPattern(atom, name, view, row.labels());
  else if (row.type === 'text' && !isGlued(placed)) {
    const message = `${name} on \`${field}\` works in Lucene, word by word, but is not documented for this platform. Prefer quoted words joined by OR.`;
    view.report(warning('pattern_on_text', message, atom.span));
  }
}

function labelPattern(atom: Atom, name: string, view: View, labels: ReadonlySet<string>): void {
  const raw = view.text.slice(...atom.span);
  const label = /^\/[^\s/]+(?:\/[^\s/]+)*/.exec(raw)?.[0];
  if (atom.kind === 'regex' && label !== undefined && /\s/.test(raw)) {
    const message = 'An unquoted `/` starts a regular expression that runs to the next `/`. Quote the label.';
    const fix = certain(
      replace('Quote the label', [atom.span[0], atom.span[0] + label.length], quote(label)),
    );
    view.report(error('unquoted_label', message, [atom.span[0], atom.span[0] + label.length], [fix]));
    return;
  }
  const bare = raw.replace(/\/$/, '');
  const fix = replace('Quote the label', atom.span, quote(bare));
  const fixes = atom.kind === 'regex' && labels.has(bare) ? [certain(fix)] : [];
  // Labels begin with a slash.
  const isDead = atom.kind !== 'range' && /^[\p{L}\p{N}][^|]*$/u.test(atom.value);
  const message = isDead
    ? 'Labels begin with a slash, which this pattern leaves out: it never matches. Name the labels, quoted and joined by OR.'
    : `${name} on a label is not documented for this platform. Name the labels, quoted and joined by OR.`;
  view.report((isDead ? error : warning)('pattern_on_label', message, atom.span, fixes));
}
