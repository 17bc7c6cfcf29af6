import { certain, error, type Fix, replace, suspicious, warning } from '../../diagnostics.ts';
import { parseRegex, type RegexSyntax } from '../../pattern-syntax.ts';
import { escapeSlashes, escapeTerm, quote } from '../escape.ts';
import type { Atom } from '../surface.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import { type PlacedAtom, removal, source, type View } from './rule.ts';

/** In `url:*\/blog\/*` without backslashes, or in `UI/UX or A/B`, the text between the slashes becomes an expression. */
export function gluedRegex(placed: PlacedAtom, view: View): void {
  if (!isGlued(placed)) return;
  const message =
    'An unescaped `/` starts a regular expression that runs to the next `/`. Quote the word, or write `\\/`.';
  const fixes = view.hasSyntaxErrors ? [] : [fixFor(placed, view)];
  view.report(suspicious('glued_regex', message, placed.atom.span, fixes));
}

function fixFor({ atom, group, index }: PlacedAtom, view: View): Fix {
  const before = group.clauses[index - 1];
  const start = before?.body.span[0] ?? atom.span[0];
  const field = before?.field?.name ?? '';
  const isPattern =
    fields.get(field)?.type === 'keyword' || /[*?]/.test(view.text.slice(start, atom.span[0]));
  const run = /^[^\s()]*/.exec(view.text.slice(start))?.[0] ?? '';
  if (isPattern)
    return certain(replace('Escape the slashes', [start, start + run.length], escapeSlashes(run)));
  const end = atom.span[0] + (/^\/[^\s/()]*/.exec(source(view, atom.span))?.[0].length ?? 1);
  return certain(replace('Quote the word', [start, end], quote(view.text.slice(start, end))));
}

function isGlued({ atom, clause, group, index }: PlacedAtom): boolean {
  return atom.kind === 'regex' && group.clauses[index - 1]?.span[1] === clause.span[0];
}

/** On text a pattern is compared with one word at a time: lower case, without spaces and hyphens. */
export function impossibleRegex({ atom, field }: PlacedAtom, view: View): void {
  if (fields.get(field)?.type !== 'text') return;
  if (atom.kind === 'prefix' || atom.kind === 'wildcard') return impossibleWildcard(atom, view);
  if (atom.kind !== 'regex') return;
  const syntax = parseRegex(atom.value);
  if ('message' in syntax || canMatch(syntax)) return;
  const message =
    'This never matches: it is compared with single words in lower case, which have no spaces, hyphens or capitals. Use quoted words.';
  view.report(error('never_matches', message, atom.span));
}

/** Patterns are lowered, so capitals are no obstacle. */
function impossibleWildcard(atom: Atom, view: View): void {
  const literal = atom.value.replaceAll(/\\([\s\S])|[*?]/g, '$1');
  const foreign = Array.from(literal.toLowerCase()).find((character) => !isOfWord(character));
  if (foreign !== undefined) {
    const words = wordsOf(literal).join(' ');
    const fixes: Fix[] = words === '' ? [] : [replace(`Search for ${quote(words)}`, atom.span, quote(words))];
    const message = `This never matches: it is compared with single words, and no word has ${JSON.stringify(foreign)}. Use quoted words.`;
    view.report(error('never_matches', message, atom.span, fixes));
  } else if (atom.kind === 'wildcard' && /^[\p{L}\p{N}]+\?$/u.test(atom.value)) {
    const word = atom.value.slice(0, -1);
    const message = '`?` stands for exactly one more character here. Remove it to find the word.';
    view.report(suspicious('question_mark', message, atom.span, [replace('Remove the ?', atom.span, word)]));
  }
}

/** Characters that the tokenizer keeps inside a word. */
function isOfWord(character: string): boolean {
  return /[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_'’.:,·\u2027\u05F3\u05F4]/u.test(character);
}

/** False only when every way through the expression needs a character that no word has. */
function canMatch(syntax: RegexSyntax): boolean {
  switch (syntax.op) {
    case 'set':
      return syntax.ranges.some(
        ([low, high]) => high - low > 'Z'.charCodeAt(0) || hasWordCharacter(low, high),
      );
    case 'cat':
    case 'all':
      return syntax.of.every(canMatch);
    case 'any':
      return syntax.of.some(canMatch);
    case 'repeat':
      return syntax.min === 0 || canMatch(syntax.of);
    case 'not':
      return true;
  }
}

function hasWordCharacter(low: number, high: number): boolean {
  for (let code = low; code <= high; code += 1) if (isOfWord(String.fromCodePoint(code))) return true;
  return false;
}

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

/** A clause without effect. Alone it makes a rule that matches everything, which breadth.ts reports. */
export function matchAll(placed: PlacedAtom, view: View): void {
  const { atom, field, clause } = placed;
  if (atom.kind !== 'wildcard' || atom.value !== '*' || !/^(?:\*|url|domain)$/.test(field)) return;
  const what = field === '*' ? 'Every page matches this' : `Every page has a ${field}`;
  const message = `${what}, so it is always true. Remove it, or say what is wanted.`;
  view.report(warning('always_true', message, clause.span, removal(placed)));
}

/** `~` after a word counts edits; Lucene refuses fractions above one. */
export function fuzzyDistance({ atom }: PlacedAtom, view: View): void {
  const distance = atom.slop?.value ?? null;
  if (atom.kind !== 'term' || atom.slop === null || distance === null) return;
  if (distance < 1 || Number.isInteger(distance)) return;
  const whole = `~${Math.min(2, Math.trunc(distance))}`;
  const message = 'The number of edits must be 0, 1 or 2.';
  view.report(error('bad_fuzzy', message, atom.slop.span, [replace(`Use ${whole}`, atom.slop.span, whole)]));
}

/** Between quotes `*` and `?` are plain characters. */
export function quotedWildcard({ atom, field }: PlacedAtom, view: View): void {
  const row = fields.get(field);
  if (atom.kind !== 'quoted' || row === undefined || !hasWildcard(atom.value, row.type)) return;
  const words = row.type === 'text' ? wordsOf(atom.value) : [];
  const message =
    words.length > 1
      ? `In quotes \`*\` is dropped: this finds ${quote(words.join(' '))}. A phrase has no wildcard.`
      : 'In quotes `*` is no wildcard but a character of the text. Write the pattern without quotes.';
  const pattern = atom.value.split('*').map(escapeTerm).join('*');
  const fix = replace('Remove the quotes', atom.span, pattern);
  const isAddress = field === 'url' || field === 'domain';
  const phrase = replace('Remove the *', atom.span, quote(words.join(' ')));
  const fixes = isAddress ? [certain(fix)] : words.length === 1 ? [fix] : words.length > 1 ? [phrase] : [];
  view.report(suspicious('quoted_wildcard', message, atom.span, fixes));
}

function hasWildcard(value: string, type: string): boolean {
  return type === 'text' ? /[\p{L}\p{N}-]\*|\*[\p{L}\p{N}]/u.test(value) : value.includes('*');
}
