import { type Edit, type Fix, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { isWhite, quote } from '../escape.ts';
import type { Atom, Clause, Group } from '../surface.ts';
import { fieldAliases, fields } from '../tables.ts';
import { isAsSeen, isForeignOperator, isOperatorWord, source, type View } from './rule.ts';

/**
 * Two clauses side by side are probably an OR, which most people do not expect and the platform does not document.
 * Reports the first such pair of each level.
 */
export function implicitOperator(group: Group, view: View): void {
  const gaps = gapsOf(group, view);
  const [first] = gaps;
  if (first === undefined) return;
  const previous = group.clauses[group.clauses.indexOf(first) - 1];
  const run = wordRun(group, group.clauses.indexOf(first) - 1);
  const scope = run.length > 1 && previous?.field != null ? previous.field.name : null;
  const message =
    scope === null
      ? 'Two clauses without an operator between them mean OR: either is enough. Write AND or OR, or quote a phrase.'
      : `\`${scope}:\` belongs to the next word only; the words after it are searched in \`added\`, and any of them is enough. Quote the phrase.`;
  const fixes = [...phraseFix(run, gaps, view), ...insertions(gaps, view)];
  view.report(suspicious('implicit_operator', message, first.span, fixes));
}

/** The clauses that no operator joins to the one before. */
export function gapsOf(group: Group, view: View): readonly Clause[] {
  if (/\b(?:AND|OR|NOT)\\[tnr]/.test(view.text) || !isAsSeen(group, view)) return [];
  return group.clauses.filter((clause, index) => isGap(group.clauses[index - 1], clause));
}

function isGap(previous: Clause | undefined, clause: Clause): boolean {
  if (previous === undefined || clause.conjunction !== null || clause.modifier !== null) return false;
  const isGlued =
    previous.span[1] === clause.span[0] && clause.body.type === 'atom' && clause.body.kind === 'regex';
  return !isGlued && previous.modifier?.kind !== 'require' && !isNoise(previous) && !isNoise(clause);
}

/** Other rules report lone signs, lower-case operators and `recent:`. */
function isNoise({ body, field }: Clause): boolean {
  if (body.type === 'group') return false;
  if (field !== null) return field.name === 'recent';
  return body.kind === 'lone_sign' || isOperatorWord(body) || isForeignOperator(body);
}

/** Plain words side by side, the first one possibly with a field, are probably meant as a phrase. */
function wordRun(group: Group, from: number): Clause[] {
  const run: Clause[] = [];
  for (let index = from; index < group.clauses.length; index += 1) {
    const clause = group.clauses[index];
    if (clause === undefined || !isBareWord(clause.body) || clause.modifier !== null) break;
    if (index > from && (clause.conjunction !== null || clause.field !== null || isNoise(clause))) break;
    run.push(clause);
  }
  return run;
}

function isBareWord(body: Atom | Group): boolean {
  return body.type === 'atom' && body.kind === 'term' && body.slop === null && body.boost === null;
}

/** A phrase on a domain, a label or a date matches nothing. */
function isOnText({ field }: Clause): boolean {
  const name = field?.name.toLowerCase();
  return name === undefined || fields.get(fieldAliases.get(name) ?? name)?.type === 'text';
}

function phraseFix(run: readonly Clause[], gaps: readonly Clause[], view: View): Fix[] {
  const [first] = run;
  const last = run.at(-1);
  if (first === undefined || last === undefined || run.length < 2 || !isOnText(first)) return [];
  const words = run.map(({ body }) => (body.type === 'atom' ? body.value : '')).join(' ');
  const phrase = quote(words);
  const field = first.field === null ? '' : source(view, [first.field.span[0], first.body.span[0]]);
  const joined: Edit = { span: [first.span[0], last.span[1]], text: field + phrase };
  const others = gaps.filter((gap) => !run.includes(gap));
  const rest = others.length === 0 ? '' : ' and require the rest';
  return [
    {
      title: `Search for the phrase ${quoted(words)}${rest}`,
      certainty: 'guess',
      edits: [joined, ...insertion('AND', others, view)],
    },
  ];
}

function insertions(gaps: readonly Clause[], view: View): Fix[] {
  return [
    { title: 'Require all: AND', certainty: 'guess', edits: insertion('AND', gaps, view) },
    { title: 'Either is enough: OR', certainty: 'guess', edits: insertion('OR', gaps, view) },
  ];
}

function insertion(word: string, gaps: readonly Clause[], view: View): Edit[] {
  return gaps.map(({ span: [start] }) => {
    const space = isWhite(view.text.charCodeAt(start - 1)) ? '' : ' ';
    return { span: [start, start], text: `${space}${word} ` };
  });
}
