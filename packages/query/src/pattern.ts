import { build, createAlgebra, derive, type State, TooComplex } from './derivatives.ts';
import { type PatternError, parseRegex, type RegexSyntax } from './pattern-syntax.ts';

/**
 * Matches users' patterns against whole values without the JavaScript regex engine, reading a text once from left to
 * right. A regular expression becomes a DFA that is built on demand. A pattern that exceeds the work budget gives
 * `null` (no verdict); Lucene refuses such patterns too.
 */
interface Pattern {
  readonly test: (text: string) => boolean | null;
}

type CompiledRegex =
  | { readonly pattern: Pattern; readonly error: null }
  | { readonly pattern: null; readonly error: PatternError };

/** At most about 20 ms; ordinary patterns need a few hundred steps. */
const workPerTextMax = 50_000;
const statesKeptMax = 20_000;

/** `*` any run, `?` one code point, `\` takes the next character literally; covers the whole text. */
export function compileWildcard(source: string): Pattern {
  const parts = wildcardParts(source);
  return { test: (text) => matchWildcard(parts, Array.from(text)) };
}

/** Lucene's regular expressions (all optional syntax on), anchored at both ends. */
export function compileRegex(source: string): CompiledRegex {
  const parsed = parseRegex(source);
  if ('message' in parsed) return { pattern: null, error: parsed };
  let machine: Machine | undefined;
  const test = (text: string): boolean | null => {
    if (machine === undefined || machine.size() > statesKeptMax) machine = createMachine(parsed);
    return machine.run(text);
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

interface Machine {
  readonly run: (text: string) => boolean | null;
  readonly size: () => number;
}

function createMachine(syntax: RegexSyntax): Machine {
  const algebra = createAlgebra();
  const borders = classBorders(syntax);
  const classOf = createClassOf(borders);
  let start: State | undefined;
  const run = (text: string): boolean => {
    algebra.workLeft = workPerTextMax;
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
  return {
    size: () => algebra.known.size,
    run: (text) => {
      try {
        return run(text);
      } catch (error) {
        if (error instanceof TooComplex) return null;
        throw error;
      }
    },
  };
}

/** All characters between two borders behave alike in the expression, so one represents them. */
function classBorders(syntax: RegexSyntax): number[] {
  const borders = new Set([0]);
  const visit = (node: RegexSyntax): void => {
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
