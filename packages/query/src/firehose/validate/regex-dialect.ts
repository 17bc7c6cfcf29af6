import { certain, error, replace, suspicious, warning } from '../../diagnostics.ts';
import { parseRegex } from '../../pattern-syntax.ts';
import type { PlacedAtom, View } from './rule.ts';

const classes: Readonly<Record<string, string>> = { d: '[0-9]', w: '[A-Za-z0-9_]', s: '[ \\t]' };

/** Lucene's expressions are not those of programming languages (firehose.md §12.6). */
export function regexDialect({ atom, field }: PlacedAtom, view: View): void {
  if (atom.kind !== 'regex') return;
  const start = atom.span[0] + 1;
  const syntax = parseRegex(atom.value);
  if ('message' in syntax) {
    const at = Math.min(start + syntax.at, atom.span[1] - 1);
    view.report(
      error('bad_regex', `The regular expression cannot be read: ${syntax.message}.`, [at, at + 1]),
    );
    return;
  }
  reportClasses(atom.value, start, view);
  reportAnchors(atom.value, start, view);
  if (field === 'url' || field === 'domain') reportExtras(atom.value, start, view);
}

function reportClasses(value: string, start: number, view: View): void {
  for (const found of value.matchAll(/\\([\s\S])/g)) {
    const meant = classes[found[1] ?? ''];
    if (meant === undefined) continue;
    const at = start + found.index;
    const message = `Not every version of Lucene reads \`${found[0]}\` as a class of characters; the older ones find the letter. Write \`${meant}\`.`;
    const fix = certain(replace(`Use ${meant}`, [at, at + 2], meant));
    view.report(suspicious('regex_dialect', message, [at, at + 2], [fix]));
  }
}

function reportAnchors(value: string, start: number, view: View): void {
  const places = [value.startsWith('^') ? 0 : -1, /(?:^|[^\\])\$$/.test(value) ? value.length - 1 : -1];
  for (const place of places.filter((at) => at >= 0)) {
    const at = start + place;
    const message = `\`${value.charAt(place)}\` is an ordinary character here: an expression always covers the whole value.`;
    const fix = certain(replace('Remove it', [at, at + 1], ''));
    view.report(suspicious('regex_dialect', message, [at, at + 1], [fix]));
  }
}

function reportExtras(value: string, start: number, view: View): void {
  for (const found of value.matchAll(/\\[\s\S]|\[[^\]]*\]|[@&~#<>"]/g)) {
    if (found[0].length !== 1) continue;
    const at = start + found.index;
    const message = `\`${found[0]}\` is an operator of these expressions. Escape it as \`\\${found[0]}\` if the character is meant.`;
    const fix = replace('Escape it', [at, at], '\\');
    view.report(warning('regex_operator', message, [at, at + 1], [fix]));
  }
}
