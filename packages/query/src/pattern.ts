import { atEndOfEvaluation, patternStepsMax, spend, withShare } from './budget.ts';
import { build, createAlgebra, derive, type State } from './derivatives.ts';
import { type PatternError, parseRegex, type RegexSyntax } from './pattern-syntax.ts';

/**
 * Matches users' patterns against whole values without the JavaScript regex engine, reading a text once from left to
 * right. A regular expression becomes a DFA that is built on demand, within the budget of the evaluation. A pattern that
 * once needed more than its share gives `null` (no verdict) from then on; Lucene refuses such patterns too.
 */
interface Pattern {
  readonly test: (text: string) => boolean | null;
}

type CompiledRegex =
  | { readonly pattern: Pattern; readonly error: null }
  | { readonly pattern: null; readonly error: PatternError };

/** `*` any run, `?` one code point, `\` takes the next character literally; covers the whole text. */
export function compileWildcard(source: string): Pattern {
  const parts = wildcardParts(source);
  return {
    test: (text) => {
      spend(2 * text.length);
      return matchWildcard(parts, Array.from(text));
    },
  };
}

/** Lucene's regular expressions (all optional syntax on), anchored at both ends. */
export function compileRegex(source: string): CompiledRegex {
  spend(stepsPerSource * source.length);
  const parsed = parseRegex(source);
  if ('message' in parsed) return { pattern: null, error: parsed };
  // The DFA lives for one evaluation: those of many rules would fill the memory.
  let machine: Machine | null = null;
  let spent = 0;
  let isTooComplex = false;
  const start = (): Machine => {
    atEndOfEvaluation(() => {
      machine = null;
      spent = 0;
    });
    return createMachine(parsed);
  };
  const test = (text: string): boolean | null => {
    if (isTooComplex) return null;
    const run = withShare(patternStepsMax - spent, () => (machine ??= start())(text));
    spent += run.spent;
    isTooComplex = run.result === null;
    return run.result;
  };
  return { pattern: { test }, error: null };
}

const anyRun = Symbol('*');
const anyOne = Symbol('?');
type WildcardPart = string | typeof anyRun | typeof anyOne;

function wildcardParts(source: string): WildcardPart[] {
  const parts: WildcardPart[] = [];
  const characters = Array.from(source);
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === '\\' && index + 1 < characters.length) parts.push(characters[(index += 1)] ?? '');
    else if (character === '*') parts.push(anyRun);
    else if (character === '?') parts.push(anyOne);
    else parts.push(character);
  }
  return parts;
}

/** Backtracks to the last `*` only: whatever an earlier one could match, the last one can match too. */
function matchWildcard(parts: readonly WildcardPart[], text: readonly string[]): boolean {
  let part = 0;
  let position = 0;
  let retryPart = -1;
  let retryPosition = 0;
  while (position < text.length) {
    spend(2);
    const wanted = parts[part];
    if (wanted === anyRun) {
      retryPart = part;
      retryPosition = position;
      part += 1;
    } else if (wanted !== undefined && (wanted === anyOne || wanted === text[position])) {
      part += 1;
      position += 1;
    } else if (retryPart >= 0) {
      part = retryPart + 1;
      retryPosition += 1;
      position = retryPosition;
    } else {
      return false;
    }
  }
  while (parts[part] === anyRun) part += 1;
  return part === parts.length;
}

type Machine = (text: string) => boolean;

/** The table of character classes. */
const stepsPerMachine = 3000;
const stepsPerText = 5;
const stepsPerSource = 50;

function createMachine(syntax: RegexSyntax): Machine {
  spend(stepsPerMachine);
  const algebra = createAlgebra();
  const borders = classBorders(syntax);
  const classOf = createClassOf(borders);
  let start: State | undefined;
  return (text) => {
    spend(stepsPerText + text.length);
    start ??= build(algebra, syntax);
    let state = start;
    for (const character of text) {
      const group = classOf(character.codePointAt(0) ?? 0);
      let next = state.next[group];
      if (next === undefined) {
        next = derive(algebra, state, borders[group] ?? 0);
        state.next[group] = next;
      }
      state = next;
    }
    return state.nullable;
  };
}

/** All characters between two borders behave alike in the expression, so one represents them. */
function classBorders(syntax: RegexSyntax): number[] {
  const borders = new Set([0]);
  const visit = (node: RegexSyntax): void => {
    spend(5);
    if (node.op === 'set') {
      for (const [low, high] of node.ranges) borders.add(low).add(high + 1);
    } else if (node.op === 'cat' || node.op === 'any' || node.op === 'all') node.of.forEach(visit);
    else if (node.op === 'not' || node.op === 'repeat') visit(node.of);
  };
  visit(syntax);
  return [...borders].toSorted((a, b) => a - b);
}

function createClassOf(borders: readonly number[]): (codePoint: number) => number {
  const search = (codePoint: number): number => {
    let low = 0;
    let high = borders.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((borders[middle] ?? 0) <= codePoint) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const ascii = Uint16Array.from({ length: 128 }, (_, codePoint) => search(codePoint));
  return (codePoint) => ascii[codePoint] ?? search(codePoint);
}
