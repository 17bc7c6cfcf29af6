import type { Assumption } from './register.ts';

const needsKnownItems =
  'needs items whose text is known: `earshot_unexplained_total` counts where the platform and Earshot disagree';

/** docs/upstreams/x.md §15, word for word; a test compares them. */
export const xAssumptions = {
  'X-1': {
    question: 'Batch with valid and invalid rules',
    expected: 'the valid ones are created; the client copes with none',
    step: 'X3',
  },
  'X-2': {
    question: 'Status for the rule cap',
    expected: 'any 4xx; emulate 422',
    notAsked: 'needs as many rules as the app may have',
  },
  'X-3': { question: 'Rules per request', expected: '100 are accepted', step: 'X2' },
  'X-4': { question: 'Tag length', expected: '255 characters are accepted', step: 'X2' },
  'X-5': { question: 'Length unit', expected: 'UTF-16 units', step: 'X2' },
  'X-6': {
    question: 'Value normalisation',
    expected: 'none, neither in answers nor for duplicates; canonicalise ourselves',
    step: 'X3',
  },
  'X-7': { question: 'Second connection', expected: 'refused with 429 `TooManyConnections`', step: 'X4' },
  'X-8': {
    question: 'Slot release after a crash',
    expected: 'at once, or once it is killed over the Connections API',
    step: 'X4',
  },
  'X-9': { question: 'All rules removed while connected', expected: 'stream idles', step: 'X4' },
  'X-10': {
    question: 'Long-Post tail, alt text, cards',
    expected: 'tail APPROX; others not matched',
    notAsked: needsKnownItems,
  },
  'X-11': {
    question: 'GIF under `has:images`/`has:video_link`',
    expected: 'UNKNOWN',
    notAsked: needsKnownItems,
  },
  'X-12': {
    question: 'Operators whose type is left blank, alone',
    expected: 'accepted, except `source:`; generate them as C',
    step: 'X2',
  },
  'X-13': {
    question: 'Billing of expansions',
    expected: 'billed: usage also counts the referenced Posts',
    step: 'X5',
  },
  'X-14': {
    question: '`backfill_minutes` without entitlement',
    expected: '400; client must retry without it',
    step: 'X4',
  },
  'X-15': {
    question: 'Delete propagation',
    expected: '≤ 60 s tail',
    notAsked: 'is a measurement, which X’s terms keep confidential',
  },
  'X-16': { question: 'A rule of stop words only', expected: 'accepted; we report a doubt', step: 'X2' },
  'X-17': {
    question: 'Recovery (`start_time`) with changed rules',
    expected: 'current rules',
    notAsked: 'needs Enterprise, and rules that change during a recovery',
  },
  'X-18': {
    question: '`Accept-Encoding: identity` on the stream',
    expected: 'honoured: nothing is compressed',
    step: 'X4',
  },
  'X-19': {
    question: 'Parallel rule writes',
    expected: 'refused or lost: serialise per App',
    notAsked: 'parallel writes could damage the rules of the app',
  },
  'X-20': {
    question: 'Problem type of a rule that is too long',
    expected: '`invalid-rules`, in an entry of `errors[]` with its `value`',
    step: 'X2',
  },
  'X-21': {
    question: '`data` beside `errors`',
    expected: 'is a Post',
    notAsked: 'such records are rare, and cannot be caused',
  },
  'X-22': { question: 'Unit of `entities.*.start` and `end`', expected: 'code points', step: 'X5' },
  'X-23': {
    question: 'Stored rules that became unusable',
    expected: '409 `RulesInvalidIssue`',
    notAsked: 'needs stored rules that X itself calls unusable',
  },
  'X-24': {
    question: 'Longest wait after 429',
    expected: '15 min, or `x-rate-limit-reset`',
    notAsked: 'would run into the limit on purpose',
  },
  'X-25': {
    question: 'Silence of a healthy stream',
    expected: '30 s at most (keep-alives every 20 s)',
    step: 'X4',
  },
  'X-26': {
    question: 'Billing of edits',
    expected: 'each edit id is a new charge',
    notAsked: 'an edit cannot be caused from outside',
  },
  'X-27': { question: 'The word `NOT`', expected: 'an ordinary keyword: accepted', step: 'X2' },
  'X-28': { question: 'Empty and unbalanced groups', expected: 'refused', step: 'X2' },
  'X-29': { question: '`-(a OR b)`', expected: 'accepted; we rewrite it anyway', step: 'X2' },
  'X-30': {
    question: '`a OR has:media`',
    expected: 'refused: each branch needs a standalone clause',
    step: 'X2',
  },
  'X-31': { question: 'Upper case in operator names', expected: 'accepted', step: 'X2' },
  'X-32': { question: 'A space after the colon', expected: 'refused', step: 'X2' },
  'X-33': { question: 'Single and curly quotes', expected: 'refused', step: 'X2' },
  'X-34': { question: 'Tags of digits, cashtags with digits', expected: 'accepted', step: 'X2' },
  'X-35': { question: 'Empty and blank values', expected: 'refused', step: 'X2' },
  'X-36': { question: 'Tab and newline', expected: 'whitespace: accepted', step: 'X2' },
  'X-37': {
    question: 'Unicode forms of accented letters',
    expected: 'the same letter',
    notAsked: needsKnownItems,
  },
  'X-38': { question: 'Tokenisation', expected: 'as in §11', notAsked: needsKnownItems },
  'X-39': {
    question: 'A third recovery job',
    expected: 'refused with 429',
    notAsked: 'needs Enterprise, and three recoveries at once',
  },
  'X-40': { question: '`followers_count:1000..500`', expected: 'refused', step: 'X2' },
  'X-41': { question: '`from:a,b`', expected: 'refused', step: 'X2' },
  'X-42': { question: '`from:@a`', expected: 'refused', step: 'X2' },
  'X-43': {
    question: 'Duplicate rule',
    expected: 'an error `duplicate-rules` with the `id` of the rule that exists (seen missing)',
    step: 'X3',
  },
  'X-44': {
    question: 'Statuses',
    expected: '201 for adding, 200 for deleting (OpenAPI: 200 only)',
    step: 'X3',
  },
  'X-45': {
    question: 'Field names of search',
    expected: '`post.fields` and `includes.posts`, as in OpenAPI 2.167',
    step: 'X6',
  },
  'X-46': {
    question: 'Field names of the stream',
    expected: '`tweet.fields` and `includes.tweets`',
    step: 'X4',
  },
  'X-47': { question: 'Usage endpoint', expected: 'open to an app that may stream', step: 'X0' },
  'X-48': {
    question: 'Other rules on the app',
    expected: 'none: what they match is billed and not stored',
    step: 'X1',
  },
  'X-49': { question: 'Rule counts', expected: 'both caps, as strings or numbers', step: 'X1' },
  'X-50': { question: 'Connections API', expected: 'lists an open stream of the app', step: 'X4' },
  'X-51': { question: 'List after adding', expected: 'has the new rule at once', step: 'X3' },
  'X-52': { question: 'Deleting what does not exist', expected: '200, counted in `not_deleted`', step: 'X3' },
  'X-53': { question: 'Connecting without rules', expected: '409 `RuleConfigurationIssue`', step: 'X4' },
  'X-54': { question: 'Full-archive search', expected: 'open on pay-per-use', step: 'X6' },
  'X-55': {
    question: '`matching_rules`',
    expected: '`id` and `tag` of the rule, as it was added',
    step: 'X5',
  },
  'X-56': {
    question: 'Withheld posts in a compliance job',
    expected: 'a reason that begins with `withheld`',
    notAsked: 'needs a withheld post',
  },
  'X-57': {
    question: 'Compliance jobs at a time',
    expected: 'one of a type, its ids uploaded within 15 minutes',
    notAsked: 'a job cannot be undone, and may be billed',
  },
  'X-58': {
    question: 'Length of a query of full-archive counts',
    expected: '1,024 characters',
    notAsked: 'every call of counts is billed; one that is refused makes no estimate, and nothing worse',
  },
  'X-59': {
    question: 'Retweets in counts of words',
    expected: 'left out, as in search',
    notAsked: 'needs a day of a rule to compare with; a server learns it from the rules that run',
  },
  'X-60': {
    question: 'The newest Posts in counts',
    expected: 'counted after 30 s',
    notAsked: 'every call of counts is billed, and only whole hours are used',
  },
} as const satisfies Readonly<Record<string, Assumption>>;
