import { type Parsed, parseWith, type Scanner, unescapeText } from './scanner.ts';

/** The clauses of a rule as a tree; `position` is the 1-based character where the clause starts. */
export type XNode =
  | { kind: 'all' | 'any'; children: XNode[] }
  | { kind: 'not'; child: XNode; position: number }
  | { kind: 'words'; text: string; position: number }
  | { kind: 'operator'; name: string; value: string; position: number };

const OR = /OR(?=[\s(]|$)/y;
const PHRASE = /"((?:[^"\\]|\\.)*)"(?:~([0-9]+))?/y;
const OPERATOR = /([A-Za-z_]+):(?:"((?:[^"\\]|\\.)*)"|(\[[^\]]*\])|([^\s()":]+))/y;
const TAGGED = /([#$@])([\p{L}\p{M}\p{N}_.]+)/uy;
const WORD = /(?:[\p{L}\p{M}\p{N}_]|\p{Extended_Pictographic})+/uy;
const CLAUSE_END = /[\s()]|$/y;
const TAG_OPERATORS: { [sign: string]: string } = { '#': 'hashtag', $: 'cashtag', '@': 'mention' };

/** The grammar of x.md §10.1: white space is AND and binds tighter than OR. */
export function parseXRule(rule: string): Parsed<XNode> {
  return parseWith({ source: rule, describe: describeFault }, (scanner) => {
    scanner.skipSpace();
    if (scanner.peek() === '') scanner.fail('Rules must not be empty');
    const root = parseAny(scanner);
    if (scanner.peek() !== '') scanner.fail(`missing EOF at '${scanner.peek()}'`);
    return root;
  });
}

function describeFault(message: string, position: number): string {
  return `${message} (at position ${position})`;
}

/** or = and { "OR" and } */
function parseAny(scanner: Scanner): XNode {
  const children = [parseAll(scanner)];
  while (scanner.take(OR)) children.push(parseAll(scanner));
  return join('any', children);
}

/** and = unary { unary } */
function parseAll(scanner: Scanner): XNode {
  const children: XNode[] = [];
  scanner.skipSpace();
  while (scanner.peek() !== '' && scanner.peek() !== ')' && !scanner.looksAt(OR)) {
    children.push(parseUnary(scanner));
    scanner.skipSpace();
  }
  if (children.length === 0) {
    const rest = scanner.rest().slice(0, 10);
    scanner.fail(rest === '' ? "mismatched input 'EOF'" : `no viable alternative at input '${rest}'`);
  }
  return join('all', children);
}

/** unary = [ "-" ] ( "(" or ")" | clause ) */
function parseUnary(scanner: Scanner): XNode {
  const position = scanner.position();
  if (scanner.take(/-/y)) return { kind: 'not', child: parseUnary(scanner), position };
  if (!scanner.take(/\(/y)) return parseClause(scanner);
  const group = parseAny(scanner);
  if (!scanner.take(/\)/y)) scanner.fail("mismatched input 'EOF' expecting ')'");
  return group;
}

function parseClause(scanner: Scanner): XNode {
  const position = scanner.position();
  const phrase = scanner.take(PHRASE);
  if (phrase !== null) return readPhrase(scanner, phrase, position);
  const operator = scanner.take(OPERATOR);
  if (operator !== null) {
    const [, name = '', quoted, bracket, bare = ''] = operator;
    const value = unescapeText(quoted ?? bracket ?? bare);
    return { kind: 'operator', name: name.toLowerCase(), value, position };
  }
  const tagged = scanner.take(TAGGED);
  if (tagged !== null) {
    const [, sign = '', value = ''] = tagged;
    return { kind: 'operator', name: TAG_OPERATORS[sign] ?? '', value, position };
  }
  const word = scanner.take(WORD)?.[0];
  if (word === undefined || !scanner.looksAt(CLAUSE_END)) {
    return scanner.fail(`no viable alternative at character '${scanner.peek() || 'EOF'}'`);
  }
  if (word.toLowerCase() === 'and') {
    scanner.fail(
      'Ambiguous use of and as a keyword. A space joins two clauses; quote the word to find it',
      position,
    );
  }
  return { kind: 'words', text: word, position };
}

function readPhrase(scanner: Scanner, [, phrase = '', distance]: RegExpExecArray, position: number): XNode {
  if (distance !== undefined && !/^[1-6]$/.test(distance))
    scanner.fail(`Cannot parse rule at '~${distance}'`);
  const text = unescapeText(phrase);
  if (text.trim() === '') scanner.fail('no viable alternative at input \'""\'', position);
  if (distance === undefined) return { kind: 'words', text, position };
  // Proximity is read as "all of these words": wider than X, never narrower.
  const words = text.split(/\s+/).filter((word) => word !== '');
  const children = words.map((word): XNode => ({ kind: 'words', text: word, position }));
  return join('all', children);
}

function join(kind: 'all' | 'any', children: XNode[]): XNode {
  const [only] = children;
  return only !== undefined && children.length === 1 ? only : { kind, children };
}
