import type { Test } from '../ast.ts';
import { spend } from '../budget.ts';
import { compileRegex, compileWildcard } from '../pattern.ts';
import { editDistance } from '../text.ts';

/** Whether one value (a keyword, or one token of a text) satisfies a test; null when that is unknown. */
type Accepts = (value: string) => boolean | null;

/** Caches the compiled pattern of a test; tests are immutable. */
const compiled = new WeakMap<Test, Accepts>();

export function acceptsOf(test: Test): Accepts {
  let accepts = compiled.get(test);
  if (accepts === undefined) {
    accepts = compile(test);
    compiled.set(test, accepts);
  }
  return accepts;
}

function compile(test: Test): Accepts {
  switch (test.type) {
    case 'term':
    case 'opaque':
      return (value) => value === test.value;
    case 'prefix':
      return (value) => value.startsWith(test.value);
    case 'wildcard':
      return compileWildcard(test.pattern).test;
    case 'regex':
      return compileRegex(test.source).pattern?.test ?? (() => null);
    case 'fuzzy':
      return (value) => isNear(value, test.value, test.distance);
    case 'range':
      return (value) => isBetween(value, test);
    case 'phrase':
    case 'number':
    case 'circle':
    case 'box':
    case 'flag':
      return () => false;
  }
}

const stepsPerEdit = 5;

/** Lucene requires fewer edits than the shorter word has characters: `ab~2` does not match `cd`. */
function isNear(value: string, wanted: string, distance: number): boolean {
  if (value === wanted) return true;
  spend(stepsPerEdit * (distance + 1) * Math.min(value.length, wanted.length + distance));
  const edits = editDistance(value, wanted, distance);
  return edits <= distance && edits < Math.min(Array.from(value).length, Array.from(wanted).length);
}

function isBetween(value: string, test: Extract<Test, { type: 'range' }>): boolean {
  spend(value.length >> 2);
  const low = test.low === null ? 1 : compareCodePoints(value, test.low);
  const high = test.high === null ? -1 : compareCodePoints(value, test.high);
  return (low > 0 || (low === 0 && test.includeLow)) && (high < 0 || (high === 0 && test.includeHigh));
}

/** Terms are ordered by their UTF-8 bytes, which is code point order and not JavaScript's. */
function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (a === b) continue;
    const surrogates = Number(a >= 0xd800 && a <= 0xdfff) - Number(b >= 0xd800 && b <= 0xdfff);
    return surrogates !== 0 ? surrogates : a - b;
  }
  return left.length - right.length;
}
