import type { LeafNode, Test } from '../ast.ts';
import { foldValue } from './characters.ts';
import { type Dialect, isImplied } from './dialect.ts';
import type { Lexeme } from './lexer.ts';
import type { ValueKind } from './operator.ts';

/** One clause as a leaf. A value that its operator cannot parse becomes `opaque`; validation reports why. */
export function leafOf(text: string, lexeme: Lexeme, dialect: Dialect): LeafNode {
  const value = text.slice(lexeme.valueStart, lexeme.valueEnd);
  const span = [lexeme.start, lexeme.end] as const;
  const valueSpan = [lexeme.valueStart, lexeme.valueEnd] as const;
  const { kind } = lexeme;
  if (kind === 'operator') return { kind: 'leaf', ...operatorTest(lexeme, value, dialect), span, valueSpan };
  const field = kind === 'hashtag' || kind === 'cashtag' || kind === 'mention' ? kind : 'keyword';
  const test: Test =
    kind === 'phrase' ? phrase(value, Math.max(0, lexeme.slop)) : { type: 'term', value: foldValue(value) };
  return { kind: 'leaf', field, test, span, valueSpan };
}

/** Words as written between spaces, folded; `\"` is a quote. */
function phrase(value: string, slop: number): Test {
  const plain = value.includes('\\"') ? value.replaceAll('\\"', '"') : value;
  return { type: 'phrase', words: splitWords(foldValue(plain)), slop };
}

function splitWords(text: string): string[] {
  if (!text.includes(' ') && !/\s/.test(text)) return text === '' ? [] : [text];
  return text.split(/\s+/).filter((word) => word !== '');
}

function operatorTest(lexeme: Lexeme, value: string, dialect: Dialect): { field: string; test: Test } {
  const { name, quoted } = lexeme;
  if (name === 'is' || name === 'has' || name === 'filter') {
    const key = `${name}:${value.toLowerCase()}`;
    const operator = dialect.findOperator(key);
    return { field: operator?.name ?? key, test: { type: 'flag' } };
  }
  const operator = dialect.findOperator(name);
  if (operator === undefined || isImplied(operator)) {
    // X has no operator `keyword:`; the colon distinguishes it from the leaf of a plain word.
    const field = operator === undefined ? name : `${name}:`;
    return { field, test: quoted ? phrase(value, 0) : { type: 'opaque', value } };
  }
  const test: Test =
    operator.value === 'lang'
      ? { type: 'term', value: dialect.languageCode(value) }
      : valueTest(operator.value, value, quoted);
  return { field: operator.name, test };
}

function valueTest(kind: Exclude<ValueKind, 'lang'>, value: string, quoted: boolean): Test {
  switch (kind) {
    case 'words':
    case 'tag':
    case 'text':
      return quoted ? phrase(value, 0) : { type: 'term', value: foldValue(value) };
    case 'handle':
    case 'id':
    case 'country':
      return { type: 'term', value: value.trim().toLowerCase() };
    case 'context':
      return /^(\d{1,20}|\*)\.(\d{1,20}|\*)$/.test(value) && value !== '*.*'
        ? { type: 'term', value }
        : { type: 'opaque', value };
    case 'count':
    case 'integer':
    case 'sample':
      return count(kind, value);
    case 'fraction':
      return /^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(value)
        ? { type: 'number', low: Number(value), high: null }
        : { type: 'opaque', value };
    case 'circle':
      return circle(value);
    case 'box':
      return box(value);
    case 'sentence':
      return quoted ? { type: 'phrase', words: splitWords(value), slop: 0 } : { type: 'opaque', value };
    case 'none':
      return { type: 'flag' };
  }
}

/** range = digits , [ ".." , digits ] */
function count(kind: 'count' | 'integer' | 'sample', value: string): Test {
  const found = /^(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(value);
  if (found === null || (kind !== 'count' && found[2] !== undefined)) return { type: 'opaque', value };
  return { type: 'number', low: Number(found[1]), high: found[2] === undefined ? null : Number(found[2]) };
}

const kilometresPerMile = 1.609344;

function circle(value: string): Test {
  const parts = numbers(value, 3);
  const radius = parts === null ? null : /^(.*?)(mi|km)$/i.exec(parts[2] ?? '');
  if (parts === null || radius === null) return { type: 'opaque', value };
  const [longitude, latitude] = [decimal(parts[0]), decimal(parts[1])];
  const size = decimal(radius[1]);
  if (longitude === null || latitude === null || size === null) return { type: 'opaque', value };
  const radiusKm = radius[2]?.toLowerCase() === 'mi' ? size * kilometresPerMile : size;
  return { type: 'circle', longitude, latitude, radiusKm };
}

function box(value: string): Test {
  const parts = numbers(value, 4);
  if (parts === null) return { type: 'opaque', value };
  const [west, south, east, north] = parts.map(decimal);
  if (west == null || south == null || east == null || north == null) return { type: 'opaque', value };
  return { type: 'box', west, south, east, north };
}

function numbers(value: string, length: number): string[] | null {
  if (!value.startsWith('[') || !value.endsWith(']')) return null;
  const parts = splitWords(value.slice(1, -1));
  return parts.length === length ? parts : null;
}

/** Six decimals (11 cm) are printed without an exponent. */
function decimal(text: string | undefined): number | null {
  if (text === undefined || !/^-?\d{1,4}(\.\d{1,20})?$/.test(text)) return null;
  return Number(Number(text).toFixed(6)) + 0;
}

/** The unit with the shorter number: 16.09344 km is printed as 10 mi. */
export function radiusText(radiusKm: number): string {
  const km = `${trimmed(radiusKm)}km`;
  const miles = `${trimmed(radiusKm / kilometresPerMile)}mi`;
  return miles.length < km.length ? miles : km;
}

function trimmed(value: number): string {
  return String(Number(value.toFixed(6)));
}
