import type { Compile, Matcher } from './matcher.ts';
import { isUnspaced, tokenize, toSearchLine } from './tokens.ts';
import type { XDocument } from './x-document.ts';
import { parseXRule, type XNode } from './x-syntax.ts';

type XMatcher = Matcher<XDocument>;

const NEVER: XMatcher = { test: () => false, anyOfKeys: undefined };

/** Operators that match a key of the document, so that the rule index can find the rule by it. */
const BY_KEY = new Set(['hashtag', 'cashtag', 'mention', 'from']);

/** Known to X but not simulated: such a clause is accepted and never holds. */
const NOT_SIMULATED = new Set(
  (
    'from_affiliate_of to_affiliate_of url_title within_url_title url_description within_url_description context ' +
    'entity bio_name bio_location user_bio_location place place_country point_radius bounding_box ' +
    'geo_bounding_box min_followers followers_count tweets_count statuses_count following_count friends_count ' +
    'listed_count user_in_lists_count in_reply_to_tweet_id in_reply_to_status_id retweets_of_tweet_id ' +
    'retweets_of_status_id source min_likes min_replies min_reposts'
  ).split(' '),
);

/** These narrow a rule and cannot stand alone (x.md §10.2, type C). */
const NEEDS_COMPANY = new Set(['is', 'has', 'lang', 'sample', 'source']);

const IS_VALUES = new Set(['retweet', 'reply', 'quote', 'verified', 'nullcast']);
const HAS_VALUES = new Set(
  'hashtags cashtags mentions links media media_link images video_link videos geo'.split(' '),
);

type OperatorTest = (document: XDocument, value: string) => boolean;

const OPERATORS: { [name: string]: OperatorTest } = {
  hashtag: (document, value) => document.hashtags.has(value),
  cashtag: (document, value) => document.cashtags.has(value),
  mention: (document, value) => document.mentions.has(value),
  from: (document, value) => document.author.includes(value),
  to: (document, value) => document.inReplyTo.includes(value),
  retweets_of: (document, value) => document.retweetOf.includes(value),
  retweets_of_user: (document, value) => document.retweetOf.includes(value),
  url: (document, value) =>
    document.urls.some((url) => toSearchLine(tokenize(url)).includes(toSearchLine(tokenize(value)))),
  url_contains: (document, value) => document.urls.some((url) => url.includes(value)),
  conversation_id: (document, value) => document.conversationId === value,
  bio: (document, value) => document.bio.includes(toSearchLine(tokenize(value))),
  user_bio: (document, value) => document.bio.includes(toSearchLine(tokenize(value))),
  lang: (document, value) => document.lang === value,
  is: (document, value) => document.flags.has(`is:${value}`),
  has: (document, value) => document.flags.has(`has:${value}`),
  sample: (document, value) => Number(BigInt(document.id) % 100n) < Number(value),
};

export const compileXRule: Compile<XDocument> = (value) => {
  const parsed = parseXRule(value);
  if (!parsed.ok) return parsed;
  const details = findFaults(parsed.root);
  return details.length > 0 ? { ok: false, details } : { ok: true, matcher: compileNode(parsed.root) };
};

function findFaults(root: XNode): string[] {
  const unknown = operatorsOf(root).flatMap(findOperatorFault);
  if (unknown.length > 0) return unknown;
  if (isPositive(root)) return [];
  const alone = positiveOperators(root).filter(({ name }) => NEEDS_COMPANY.has(name));
  if (alone.length > 0) {
    return alone.map(
      ({ name, value, position }) =>
        `'${name}:${value}' cannot be used as a standalone operator (at position ${position})`,
    );
  }
  return [
    'Rules must contain a non-negation term (at position 1)',
    'Rules must contain at least one positive, non-stopword clause (at position 1)',
  ];
}

type OperatorNode = Extract<XNode, { kind: 'operator' }>;

function operatorsOf(node: XNode): OperatorNode[] {
  if (node.kind === 'operator') return [node];
  if (node.kind === 'not') return operatorsOf(node.child);
  return node.kind === 'words' ? [] : node.children.flatMap(operatorsOf);
}

function positiveOperators(node: XNode): OperatorNode[] {
  if (node.kind === 'operator') return [node];
  return node.kind === 'all' || node.kind === 'any' ? node.children.flatMap(positiveOperators) : [];
}

function findOperatorFault({ name, value, position }: OperatorNode): string[] {
  if (NOT_SIMULATED.has(name)) return [];
  const at = `(at position ${position})`;
  if (!Object.hasOwn(OPERATORS, name)) {
    return [
      `Reference to invalid operator '${name}'. The operator is not available in the current product ${at}`,
    ];
  }
  const isKnown =
    (name !== 'is' || IS_VALUES.has(value)) &&
    (name !== 'has' || HAS_VALUES.has(value)) &&
    (name !== 'sample' || /^([1-9][0-9]?|100)$/.test(value));
  return isKnown ? [] : [`Cannot parse rule at '${name}:${value}' (position ${position})`];
}

/** A branch must say what it wants, not only what it does not want (x.md §10.1, positivity check). */
function isPositive(node: XNode): boolean {
  switch (node.kind) {
    case 'not':
      return false;
    case 'words':
      return true;
    case 'operator':
      return !NEEDS_COMPANY.has(node.name);
    case 'all':
      return node.children.some(isPositive);
    case 'any':
      return node.children.every(isPositive);
  }
}

function compileNode(node: XNode): XMatcher {
  switch (node.kind) {
    case 'words':
      return compileWords(node.text);
    case 'operator':
      return compileOperator(node);
    case 'not': {
      const child = compileNode(node.child);
      return { test: (document) => !child.test(document), anyOfKeys: undefined };
    }
    case 'all': {
      const children = node.children.map(compileNode);
      const anyOfKeys = children.find((child) => child.anyOfKeys !== undefined)?.anyOfKeys;
      return { test: (document) => children.every((child) => child.test(document)), anyOfKeys };
    }
    case 'any': {
      const children = node.children.map(compileNode);
      const keys = children.map((child) => child.anyOfKeys);
      const anyOfKeys = keys.every((key) => key !== undefined) ? keys.flat() : undefined;
      return { test: (document) => children.some((child) => child.test(document)), anyOfKeys };
    }
  }
}

function compileWords(text: string): XMatcher {
  const tokens = tokenize(text);
  const [first] = tokens;
  if (first === undefined) return NEVER;
  if (tokens.some(isUnspaced)) {
    const run = tokens.join(' ');
    return { test: (document) => document.searchLine.includes(run), anyOfKeys: undefined };
  }
  const line = toSearchLine(tokens);
  const test: XMatcher['test'] =
    tokens.length === 1
      ? (document) => document.tokens.has(first)
      : (document) => document.searchLine.includes(line);
  return { test, anyOfKeys: [first] };
}

function compileOperator({ name, value }: OperatorNode): XMatcher {
  const operator = OPERATORS[name];
  if (operator === undefined) return NEVER;
  const wanted = value.toLowerCase();
  return {
    test: (document) => operator(document, wanted),
    anyOfKeys: BY_KEY.has(name) ? [`${name}:${wanted}`] : undefined,
  };
}
