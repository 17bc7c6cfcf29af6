import type { LeafNode, Node } from '../../ast.ts';
import { type Fix, suspicious } from '../../diagnostics.ts';
import { conjuncts, type NodeRule, source, type View } from './rule.ts';

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
  const message = `X requires each of these ${words.length} words in a post. Keep the two or three that posts must have, quote a phrase, or join alternatives with OR.`;
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
