import type { Assumption } from './register.ts';

const needsManagementKey = 'needs a management key, which Earshot does not use';
const needsKnownItems =
  'needs items whose text is known: `earshot_unexplained_total` counts where the platform and Earshot disagree';

/** docs/upstreams/firehose.md section 17, word for word; a test compares them. */
export const firehoseAssumptions = {
  'F-1': { question: 'Wrong kind of key', expected: '`401` (or 403)', step: 'F1' },
  'F-2': {
    question: 'Body of `GET /v1/taps/:id`',
    expected: '`{"data": Tap}`',
    notAsked: needsManagementKey,
  },
  'F-3': {
    question: '`status` of a tap',
    expected: 'may appear; absent means `active`',
    notAsked: needsManagementKey,
  },
  'F-4': { question: 'Pages crawled while a tap is paused', expected: 'lost', notAsked: needsManagementKey },
  'F-5': { question: 'Taps beyond the plan', expected: '`422`', notAsked: needsManagementKey },
  'F-6': { question: 'Names of taps', expected: 'need not be unique', notAsked: needsManagementKey },
  'F-7': {
    question: 'Rate limit of `/v1/taps`',
    expected: '30 requests/min are fine',
    notAsked: needsManagementKey,
  },
  'F-8': { question: 'Pages of the rule list', expected: 'none: as many rules as `meta.count`', step: 'F1' },
  'F-9': { question: 'Duplicate values', expected: 'accepted', step: 'F1' },
  'F-10': {
    question: 'Length and leaves of a value',
    expected: '4 000 characters and 500 leaves are accepted',
    step: 'F0',
  },
  'F-11': {
    question: 'New rules on an open stream',
    expected: 'applied, at the latest after the next reconnect',
    notAsked: 'needs a page that matches only a new rule',
  },
  'F-12': {
    question: 'Who validates',
    expected: "the matcher's own component",
    notAsked: 'cannot be seen from outside',
  },
  'F-13': {
    question: 'Answer of validate',
    expected: '`data` with `valid`, `diagnostics` and `compiled`',
    step: 'F0',
  },
  'F-14': {
    question: 'After a replay by `since`',
    expected: 'the stream continues live',
    notAsked: 'needs a page that is crawled after a replay',
  },
  'F-15': { question: 'Values out of range', expected: '`422`', step: 'F2' },
  'F-16': { question: '`offset`', expected: 'inclusive', step: 'F3' },
  'F-17': {
    question: 'An id older than the buffer',
    expected: 'the stream starts at the oldest event',
    step: 'F2',
  },
  'F-18': { question: 'A malformed id', expected: 'ignored: live tail', step: 'F2' },
  'F-19': { question: 'A quiet stream', expected: 'sends nothing between `connected` and `end`', step: 'F2' },
  'F-20': { question: 'Order', expected: 'by offset', step: 'F3' },
  'F-21': {
    question: 'Several connections of a tap',
    expected: 'accepted; each gets every event',
    step: 'F2',
  },
  'F-22': { question: '`typ` of chunks', expected: '`ins` and `del`; anything else is context', step: 'F3' },
  'F-23': { question: 'Body of an error', expected: 'JSON whose `message` has the reason', step: 'F1' },
  'F-24': {
    question: 'What is an adult page',
    expected: 'emulator: a flag, or `/Adult…`',
    notAsked: needsKnownItems,
  },
  'F-25': {
    question: '`quality` and pages without `publish_time`',
    expected: 'dropped',
    notAsked: needsKnownItems,
  },
  'F-26': {
    question: 'What is charged once',
    expected: 'each event id of a tap',
    notAsked: 'no call tells the balance: compare the dashboard',
  },
  'F-27': {
    question: 'Balance 0',
    expected: 'streams run to their end, rules can be changed, matches are kept',
    notAsked: 'needs an account without credit',
  },
  'F-28': {
    question: 'Values of `domain`',
    expected: 'the host, without `www.`, and its parents',
    notAsked: needsKnownItems,
  },
  'F-29': { question: 'Default operator', expected: 'OR', step: 'F0' },
  'F-30': { question: 'Tokenizer', expected: 'the standard one of Lucene', step: 'F0' },
  'F-31': { question: 'Stop words', expected: 'the 33 English ones, on diff fields', step: 'F0' },
  'F-32': {
    question: 'Phrases across chunks',
    expected: 'generate nothing that depends on it',
    notAsked: needsKnownItems,
  },
  'F-33': {
    question: 'Zone of `publish_time`',
    expected: 'UTC',
    notAsked: 'needs a page whose time of publishing is known',
  },
  'F-34': {
    question: '`recent:`',
    expected: 'once, top level, with AND; anything else is refused',
    step: 'F0',
  },
  'F-35': { question: 'Stop words in titles', expected: 'kept', step: 'F0' },
  'F-36': {
    question: 'AND and OR on one level',
    expected: 'no precedence: AND makes its neighbours required',
    step: 'F0',
  },
  'F-37': { question: 'Unknown fields', expected: 'refused', step: 'F0' },
  'F-38': { question: 'Statuses of rule calls', expected: '201 with `data`, 200, 204', step: 'F1' },
  'F-39': { question: 'Rules of a tap', expected: 'more than 25', step: 'F1' },
  'F-40': { question: 'Rules of an event', expected: '`query_ids`', step: 'F3' },
  'F-41': { question: 'Whole pages', expected: 'no `markdown`', step: 'F3' },
  'F-42': { question: 'Ids of events', expected: '`{partition}-{offset}`', step: 'F3' },
  'F-43': {
    question: 'A tap without rules',
    expected: '200, then an `error` that says `No rules configured`',
    step: 'F2',
  },
  'F-44': {
    question: 'Changing a flag',
    expected: '`PUT` keeps the fields that it omits, and the list shows the change',
    step: 'F1',
  },
  'F-45': { question: '`publish_time`', expected: 'date and time without a zone', step: 'F3' },
  'F-46': {
    question: 'A deleted rule on an open stream',
    expected: 'matches nothing after 15 s',
    notAsked: 'needs a rule that matches all the time, which is billed',
  },
} as const satisfies Readonly<Record<string, Assumption>>;
