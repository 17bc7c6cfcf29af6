import { type Parsed, parseWith, type Scanner, unescapeText } from './scanner.ts';

/** How a clause takes part in its level: there is no AND/OR tree in the classic parser (firehose.md §12.4). */
export type Occur = 'required' | 'optional' | 'prohibited';

export type FirehoseNode =
  | { kind: 'level'; clauses: Clause[] }
  | { kind: 'term' | 'phrase'; field: string; text: string }
  | { kind: 'range'; field: string; from: string; to: string; fromIncluded: boolean; toIncluded: boolean };

export type Clause = { occur: Occur; node: FirehoseNode };

const CONJUNCTION = /(AND(?=[\s(])|OR(?=[\s(])|&&|\|\|)\s*/y;
const MODIFIER = /(NOT(?=[\s(])|!|-(?=\S)|\+(?=\S))\s*/y;
const FIELD = /([A-Za-z_]+)\s*:\s*/y;
const PHRASE = /"((?:[^"\\]|\\.)*)"(?:~[0-9]*)?(?:\^[0-9.]+)?/y;
const RANGE = /([[{])\s*("[^"]*"|[^\s\]}]+)\s+TO\s+("[^"]*"|[^\s\]}]+)\s*([\]}])/y;
const TERM = /((?:[^\s"()[\]{}^~:\\/]|\\.)+)(?:~[0-9]*)?(?:\^[0-9.]+)?/y;

/** One level after the other, default operator OR, default field `added` (firehose.md §12.3 and §12.4). */
export function parseFirehoseRule(rule: string): Parsed<FirehoseNode> {
  return parseWith({ source: rule, describe: describeFault }, (scanner) => {
    const root = parseLevel(scanner, 'added');
    if (scanner.peek() !== '') scanner.fail(`Unexpected "${scanner.peek()}"`);
    return root;
  });
}

function describeFault(message: string, position: number): string {
  return `${message} at character ${position}`;
}

/** query = clause { [ AND | OR ] clause } */
function parseLevel(scanner: Scanner, field: string): FirehoseNode {
  const clauses: Clause[] = [];
  scanner.skipSpace();
  while (scanner.peek() !== '' && scanner.peek() !== ')') {
    const conjunction = scanner.take(CONJUNCTION)?.[1];
    if (conjunction !== undefined && clauses.length === 0) scanner.fail(`Unexpected "${conjunction}"`);
    addClause(scanner, clauses, { isAnd: conjunction === 'AND' || conjunction === '&&', field });
    scanner.skipSpace();
  }
  if (clauses.length === 0) scanner.fail('Expected a term');
  return { kind: 'level', clauses };
}

/** clause = [ "+" | "-" | NOT ] [ field ":" ] ( atom | "(" query ")" ) */
function addClause(scanner: Scanner, clauses: Clause[], level: { isAnd: boolean; field: string }): void {
  const previous = clauses.at(-1);
  if (level.isAnd && previous?.occur === 'optional') previous.occur = 'required';
  const modifier = scanner.take(MODIFIER)?.[1];
  const field = scanner.take(FIELD)?.[1] ?? level.field;
  const isRequired = level.isAnd || modifier === '+';
  const isProhibited = modifier !== undefined && modifier !== '+';
  const occur = isProhibited ? 'prohibited' : isRequired ? 'required' : 'optional';
  clauses.push({ occur, node: scanner.take(/\(/y) ? parseGroup(scanner, field) : parseAtom(scanner, field) });
}

function parseGroup(scanner: Scanner, field: string): FirehoseNode {
  const group = parseLevel(scanner, field);
  if (!scanner.take(/\)/y)) scanner.fail('Expected ")"');
  return group;
}

function parseAtom(scanner: Scanner, field: string): FirehoseNode {
  const phrase = scanner.take(PHRASE)?.[1];
  if (phrase !== undefined) return { kind: 'phrase', field, text: unescapeText(phrase) };
  const range = scanner.take(RANGE);
  if (range !== null) {
    const [, open, from = '*', to = '*', close] = range;
    const bounds = { from: readBound(from), to: readBound(to) };
    return { kind: 'range', field, ...bounds, fromIncluded: open === '[', toIncluded: close === ']' };
  }
  const text = scanner.take(TERM)?.[1];
  if (text === undefined || /^(AND|OR|NOT)$/.test(text)) return scanner.fail('Expected a term');
  return { kind: 'term', field, text };
}

function readBound(bound: string): string {
  return bound.startsWith('"') ? bound.slice(1, -1) : unescapeText(bound);
}
