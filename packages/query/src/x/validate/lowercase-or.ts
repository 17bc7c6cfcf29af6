import { certain, replacement, suspicious } from '../../diagnostics.ts';
import { type LeafRule, phraseAround, source } from './rule.ts';

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
