import type { LeafNode, Node, Span } from '../../ast.ts';
import { certain, error, type Fix, replacement, suspicious } from '../../diagnostics.ts';
import { nearFix } from '../../near.ts';
import { isSpace } from '../characters.ts';
import { cutting } from '../cut.ts';
import { slopMax } from '../dialect.ts';
import { conjuncts, type LeafRule, type NodeRule, phraseAround, source, type View } from './rule.ts';

/** Quotes with nothing but space between them. A value that is missing altogether is found by the lexer. */
export const emptyPhrase: LeafRule = (leaf, view) => {
  const [start, end] = leaf.valueSpan;
  for (let at = start; at < end; at += 1) if (!isSpace(view.text.charCodeAt(at))) return;
  if (!/["'“”„‟«»]/.test(view.text.charAt(start - 1))) return;
  const message = 'These quotes hold nothing. Write the words between them.';
  const fix = cutting('Remove it', view.text, leaf.span);
  view.report(error('empty_phrase', message, leaf.span, [fix]));
};

/** X refuses the bare word `and` in any letter case: a space already joins two clauses (x.md §10.1). */
export const ambiguousAnd: LeafRule = (leaf, view, negation) => {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'and') return;
  const word = source(view, leaf).replaceAll(/[()\s]/g, '');
  const quote = replacement('Quote it to find the word', leaf.valueSpan, `"${word}"`);
  const cut = cutting(`Remove ${word}`, view.text, leaf.span);
  const phrase = word === 'AND' ? null : phraseAround(leaf.span, view.text);
  const removals = phrase === null ? [certain(cut)] : [cut, phrase];
  const message = `${view.dialect.name} has no ${word}: a space between two clauses already means that both must match.`;
  view.report(error('ambiguous_and', message, leaf.span, negation === null ? [...removals, quote] : [quote]));
};

/** Only upper-case `OR` between clauses is the operator; `or` is searched as a word. */
export const lowercaseOr: LeafRule = (leaf, view, negation) => {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'or' || negation !== null) return;
  const message = `${source(view, leaf)} is searched as a word here. Write OR in capitals to mean "either".`;
  const fix = replacement('Write OR', leaf.span, 'OR');
  const phrase = phraseAround(leaf.span, view.text);
  const isBetween = isBetweenClauses(view.text, leaf.span);
  const fixes = !isBetween ? [] : phrase === null ? [certain(fix)] : [fix, phrase];
  view.report(suspicious('lowercase_or', message, leaf.span, fixes));
};

function isBetweenClauses(text: string, [start, end]: readonly [number, number]): boolean {
  return (
    /[^\s(]\s*$/.test(text.slice(Math.max(0, start - 8), start)) &&
    /^\s*[^\s)]/.test(text.slice(end, end + 8))
  );
}

/** `NOT` is not documented on X; it is read as a word. */
export const notWord: LeafRule = (leaf, view, negation) => {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'not' || source(view, leaf) !== 'NOT') return;
  let next = leaf.span[1];
  while (next < view.text.length && isSpace(view.text.charCodeAt(next))) next += 1;
  const negates =
    negation === null &&
    next > leaf.span[1] &&
    next < view.text.length &&
    !'-)'.includes(view.text.charAt(next));
  const message = `NOT is searched as a word here. ${view.dialect.name} excludes with a dash that touches the clause: -word.`;
  const [start] = leaf.span;
  const but = /(?<=\s)but\s+$/i.exec(view.text.slice(0, start));
  const fixes = negates ? [certain(replacement('Use a dash', [but?.index ?? start, next], '-'))] : [];
  view.report(suspicious('not_is_a_word', message, leaf.span, fixes));
};

/** English words that a question has and that say nothing of its subject. */
const functionWords: ReadonlySet<string> = new Set(
  (
    'a about all an and any anyone anything are as at be been best by can could did do does for from get ' +
    'good has have how i if in into is it its know like looking me my need new not of on one or our people say ' +
    'saying should so some someone talking than that the their them there these they this those to us was we were ' +
    'what when where which who whose why will with would you your'
  ).split(' '),
);

/** Reported by other rules. */
const operatorWords: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', 'NEAR']);

const sentenceMin = 4;
const wordsMin = 6;

/** X requires every word, so a sentence matches next to nothing. */
export const sentence: NodeRule<'and'> = (node, view) => {
  const words = conjuncts(node).filter(
    (one): one is LeafNode => isBareWord(one) && !operatorWords.has(source(view, one)),
  );
  const filler = words.filter(({ test }) => test.type === 'term' && functionWords.has(test.value));
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined || words.length < sentenceMin) return;
  if (filler.length === 0 && words.length < wordsMin) return;
  const message = `${view.dialect.name} requires each of these ${words.length} words in a post. Keep the two or three that posts must have, quote a phrase, or join alternatives with OR.`;
  const span = [first.span[0], last.span[1]] as const;
  view.report(suspicious('sentence', message, span, withoutFiller(words, filler, view)));
};

function isBareWord(node: Node): node is LeafNode {
  return node.kind === 'leaf' && node.field === 'keyword' && node.test.type === 'term';
}

function withoutFiller(words: readonly LeafNode[], filler: readonly LeafNode[], { text }: View): Fix[] {
  if (filler.length === 0 || filler.length === words.length) return [];
  const edits = filler.map(({ span: [start, end] }) => {
    const after = /^\s*/.exec(text.slice(end, end + 20))?.[0].length ?? 0;
    return { span: [start, end + after] as const, text: '' };
  });
  return [{ title: 'Remove the common words', certainty: 'guess', edits }];
}

const form = '"one two"~5';

/** "a b"~N with N from 1 to 6. */
export const proximity: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'term') return nearWord(leaf, view);
  if (leaf.test.type !== 'phrase') return;
  const tilde = leaf.valueSpan[1] + (view.text.startsWith('\\', leaf.valueSpan[1]) ? 2 : 1);
  if (view.text[tilde] !== '~') return;
  let end = tilde + 1;
  while (end < view.text.length && /\d/.test(view.text.charAt(end))) end += 1;
  if (leaf.test.words.length < 2) {
    const message = `Distance is between the words of one pair of quotes: ${form}. Here it has no effect.`;
    const fixes = joined(leaf, [tilde, end], view);
    view.report(suspicious('bad_proximity', message, [tilde, end], fixes));
  }
  if (leaf.test.slop >= 1 && leaf.test.slop <= slopMax) return;
  const tooFar = leaf.test.slop > slopMax;
  const message = `Write a number from 1 to ${slopMax} after ~: the most tokens that may be between the words.`;
  const fix = tooFar
    ? replacement(`Use ~${slopMax}`, [tilde, end], `~${slopMax}`)
    : replacement('Remove ~', [tilde, end], '');
  view.report(error('bad_proximity', message, [tilde, end], [fix]));
};

/** `NEAR` as other search engines write it; `NEAR/5` is reported as punctuation. */
function nearWord(leaf: LeafNode, view: View): void {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'near' || source(view, leaf) !== 'NEAR') return;
  const message = `NEAR is searched as a word here. ${view.dialect.name} writes distance as ${form}.`;
  view.report(suspicious('foreign_syntax', message, leaf.span, nearFix(leaf.span, 5, view.text)));
}

/** How far a fix looks back. */
const lookLength = 60;

/** `"acme" "price"~3` was probably meant as `"acme price"~3`. */
function joined(leaf: LeafNode, written: Span, { text }: View): Fix[] {
  const from = Math.max(0, leaf.span[0] - lookLength);
  const left = /"([^"]*)"\s+$/.exec(text.slice(from, leaf.span[0]));
  if (left === null) return [replacement('Remove ~', written, '')];
  const inner = `${left[1]} ${text.slice(...leaf.valueSpan)}`;
  const phrase = `"${inner}"${text.slice(...written)}`;
  return [replacement(`Write ${phrase}`, [from + left.index, written[1]], phrase)];
}

/** `"a b" ~5`: a space before the sign. Null if no phrase precedes it. */
export function spacedSlop(span: Span, { text }: View): Fix[] | null {
  const from = Math.max(0, span[0] - lookLength);
  const before = text.slice(from, span[0]);
  const phrase = /"([^"]*)"(\s+)$/.exec(before);
  if (phrase === null) return null;
  const fix = replacement('Remove the space', [span[0] - (phrase[2] ?? '').length, span[0]], '');
  return [/\S\s+\S/.test(phrase[1] ?? '') ? certain(fix) : fix];
}
