import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limitNames } from '../../apps/server/src/accounts/plans.ts';
import { resumeEarlyAfterMs } from '../../apps/server/src/budgets/budget.ts';
import { settings } from '../../apps/server/src/config/settings.ts';
import { testSwitches } from '../../apps/server/src/config/test-switches.ts';
import { nodeConnections } from '../../apps/server/src/engines/database.ts';
import { balancerNoticesMs, shutdownWithinMs } from '../../apps/server/src/runtime/shut-down.ts';
import { platforms } from '../../apps/server/src/upstream/platforms.ts';
import { usualProtocol } from '../../apps/server/src/upstream/protocol.ts';
import { formatKey, type OperationId, openApiDocument } from '../../packages/contract/src/index.ts';
import { maxTokens } from '../../packages/mcp/src/match-answers.ts';
import { readPages } from '../documentation.ts';

const root = join(import.meta.dirname, '../..');
const api = openApiDocument();
const pages = [...(await readPages(root)), { path: 'the OpenAPI document', text: JSON.stringify(api) }].map(
  ({ path, text }) => ({ path, text: text.replaceAll(/\s+/g, ' ') }),
);

const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

function toNumber(text = ''): number {
  const word = words.indexOf(text);
  return word === -1 ? Number(text.replaceAll(',', '')) : word;
}

/** Most limits are private to their files, so this reads the constant from the source: a product of numbers and other constants. */
function constantIn(path: string, name: string): number {
  const source = readFileSync(join(root, path), 'utf8');
  const valueOf = (factor: string): number => {
    if (/^[\d._]+$/.test(factor)) return Number(factor.replaceAll('_', ''));
    const [, product] = new RegExp(`^(?:export )?const ${factor} = ([^;]+);`, 'm').exec(source) ?? [];
    if (product === undefined) throw new Error(`${path} has no constant ${factor}`);
    return product.split(' * ').reduce((value, one) => value * valueOf(one), 1);
  };
  return valueOf(name);
}

const server = (path: string, name: string) => constantIn(`apps/server/src/${path}`, name);
type Counted =
  | 'accountSharePercent'
  | 'eventsBytesMax'
  | 'metricsPort'
  | 'retentionDays'
  | 'tracesRatio'
  | 'xSearchPostsPerDay';
const presetOf = (name: Counted) => settings[name].schema.parse(undefined);
const switches = testSwitches.parse({});

function boundsOf(operation: OperationId, field: string) {
  const bounds = api.components.schemas[`${operation}Request`]?.properties?.[field];
  if (typeof bounds !== 'object') throw new Error(`${operation} has no field ${field}`);
  return { min: Number(bounds.minimum), max: Number(bounds.maximum), preset: Number(bounds.default) };
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const kibi = 1024;

const stopsWithin = (platform: 'x' | 'firehose') => platforms[platform].stopsWithinMs / second;

/** The phrase may be on any page, and often enough on several. Each of its numbers must be the one in the code. */
const documented: ReadonlyArray<[phrase: RegExp, ...numbers: number[]]> = [
  // Settings
  [/`EARSHOT_RETENTION_DAYS` \((\d+)(?: by default)?\)/g, presetOf('retentionDays')],
  [/`EARSHOT_EVENTS_BYTES_MAX` \((\d+) GiB\)/g, presetOf('eventsBytesMax') / kibi ** 3],
  [/the default of ([\d,]+) posts a day/g, presetOf('xSearchPostsPerDay')],
  [/by default on port (\d+)/g, presetOf('metricsPort')],
  [/the share of items that are traced; default ([\d.]*\d)/g, presetOf('tracesRatio')],
  [
    /on an X app with ([\d,]+) rules, it can register ([\d,]+) different/g,
    1_000,
    10 * presetOf('accountSharePercent'),
  ],
  // Requests for matches
  [/searches up to ([\d,]+) matches/g, server('readers/search-matches.ts', 'searchedMax')],
  // Budgets
  [
    /(?:for|in|up to) (\d+) s on X,? (?:and for |or )?(\d+) s on Firehose/g,
    stopsWithin('x'),
    stopsWithin('firehose'),
  ],
  [/after (\w+) minutes, with what is left/g, resumeEarlyAfterMs / minute],
  [/it resumes after (\w+) minutes/g, resumeEarlyAfterMs / minute],
  [/after an early pause also once after (\w+) minutes/g, resumeEarlyAfterMs / minute],
  // Requests and keys
  [/is larger than (\d+) KiB/g, server('http/error-answer.ts', 'bodyBytesMax') / kibi],
  [/request bodies up to (\d+) KiB/g, server('http/error-answer.ts', 'bodyBytesMax') / kibi],
  [/lists up to (\d+) mistakes/g, constantIn('packages/contract/src/violations.ts', 'VIOLATIONS_MAX')],
  [/Choose 1 to (\d+) characters/g, server('accounts/idempotency.ts', 'keyLengthMax')],
  [
    /`Idempotency-Key` is empty, has more than (\d+) characters/g,
    server('accounts/idempotency.ts', 'keyLengthMax'),
  ],
  [/the key can be used again after (\d+) min/g, server('accounts/idempotency.ts', 'claimSeconds') / 60],
  [/A complete key is `esk_` and (\d+) characters/g, formatKey('0'.repeat(32)).length - 'esk_'.length],
  [/(\d+) invalid API keys in a minute/g, server('compose/api.ts', 'keyGuessesPerMinute')],
  [/more than (\d+) unknown keys (?:or codes )?per minute/g, server('compose/api.ts', 'keyGuessesPerMinute')],
  [
    /can wait up to (\d+) s for a platform/g,
    server('rules/await-registration.ts', 'confirmWithinMs') / second,
  ],
  [/link works once, (?:within|for) (\d+) s/g, server('accounts/console-sessions.ts', 'linkSeconds')],
  [/has signed in (\d+) times since/g, server('accounts/console-sessions.ts', 'sessionsPerKeyMax')],
  [
    /at most (\d+) KiB within (\d+) s/g,
    server('oauth/fetch-metadata.ts', 'bytesMax') / kibi,
    server('oauth/fetch-metadata.ts', 'documentWithinMs') / second,
  ],
  // Reading
  [/`wait_seconds` \(up to (\d+)\)/g, boundsOf('ListMatches', 'wait_seconds').max],
  [/the field `removed`, up to ([\d,]+) on a page/g, server('readers/match-reader.sql.ts', 'removalsMax')],
  [
    /page of matches ends at about (\d+) MiB/g,
    server('readers/match-reader.sql.ts', 'pageBytesMax') / kibi ** 2,
  ],
  [/sends a comment \(`:`\) after (\d+) s/g, server('http/sse-writer.ts', 'commentEveryMs') / second],
  [/and a comment every (\d+) seconds/g, server('http/sse-writer.ts', 'commentEveryMs') / second],
  [/retry: (\d+) id:/g, server('http/sse-writer.ts', 'reconnectAfterMs')],
  [/the client has read nothing for (\d+) s/g, server('http/sse-writer.ts', 'drainWithinMs') / second],
  [/a key (?:can|may) have (\w+) open streams/gi, switches.streamsPerKeyMax],
  [/arrives (\d+) ms after the request at the earliest/g, server('readers/read-or-wait.ts', 'lingerMs')],
  [/refuses to count more than ([\d,]+) matches/g, server('readers/count-matches.ts', 'countedMax')],
  [
    /A text is cut at ([\d,]+) characters/g,
    constantIn('packages/mcp/src/content/untrusted.ts', 'textLengthMax'),
  ],
  [
    /1 s, 2 s, 4 s and so on up to (\d+) min/g,
    constantIn('apps/cli/src/commands/watch.ts', 'retryMsMax') / minute,
  ],
  [/a running command has (\d+) s to end/g, constantIn('apps/cli/src/run-command.ts', 'graceMs') / second],
  // Webhooks
  [/answer 2xx within (\d+) s/gi, server('webhooks/sender.ts', 'answerWithinMs') / second],
  [/Earshot waits (\d+) seconds for the answer/g, server('webhooks/sender.ts', 'answerWithinMs') / second],
  [
    /at most (\d+) s and (\d+) KiB per answer/g,
    server('webhooks/sender.ts', 'answerWithinMs') / second,
    server('webhooks/sender.ts', 'answerBytesRead') / kibi,
  ],
  [/with the first (\d+) KiB of each response/g, server('webhooks/sender.ts', 'answerBytesKept') / kibi],
  [
    /up to (\d+) \(`max_matches`\) or (\d+) MiB/g,
    server('webhooks/endpoint-state.ts', 'batchMatchesMax'),
    server('webhooks/message.ts', 'batchBytesMax') / kibi ** 2,
  ],
  [
    /retries the same message after (\d+) s and then every minute, each ± (\d+)%/g,
    server('webhooks/endpoint-state.ts', 'firstRetryMs') / second,
    server('webhooks/endpoint-state.ts', 'jitter') * 100,
  ],
  [
    /After \*\*(\w+) days\*\* without a success/g,
    server('webhooks/endpoint-state.ts', 'failingMaxMs') / (24 * hour),
  ],
  [/If you refuse (\w+) in a row/g, server('webhooks/endpoint-state.ts', 'suspectsMax') + 1],
  [
    /until `previous_expires_at`, (\d+) hours later/g,
    server('webhooks/manage-webhooks.ts', 'previousSecretHours'),
  ],
  [
    /two signatures for (\d+) h after a rotation/g,
    server('webhooks/manage-webhooks.ts', 'previousSecretHours'),
  ],
  [
    /A `deliver` node sends (\d+) webhook messages at once/g,
    server('webhooks/deliver-worker.ts', 'sendersMax'),
  ],
  [
    /`window_seconds` \((\d+) by default, (\d+) to ([\d,]+)\)/g,
    constantIn('packages/contract/src/webhooks.ts', 'chatWindowSecondsDefault'),
    constantIn('packages/contract/src/webhooks.ts', 'chatWindowSecondsMin'),
    boundsOf('CreateWebhook', 'window_seconds').max,
  ],
  [/message shows its first (\w+) matches/g, server('webhooks/formats/chat-content.ts', 'chatItemsMax')],
  [/A message counts up to ([\d,]+) matches/g, server('webhooks/build-batch.ts', 'countedMax')],
  [/\(Discord ([\d,]+) characters/g, server('webhooks/formats/discord.ts', 'charactersMax')],
  // Digests
  [/with up to (\w+) addresses/g, constantIn('packages/contract/src/digests.ts', 'addressesMax')],
  [
    /the newest first \(default (\d+), up to (\d+)\)/g,
    boundsOf('CreateDigest', 'max_matches').preset,
    boundsOf('CreateDigest', 'max_matches').max,
  ],
  [/Above ([\d,]+) matches, `total_is_minimum`/g, server('digests/message-content.ts', 'countedMax')],
  [/`counts` has the (\d+) largest/g, server('digests/message-content.ts', 'countsMax')],
  [/`text` is cut at (\d+) characters/g, server('digests/message-content.ts', 'textLength')],
  [
    /waits up to (\d+) min for the ledger/g,
    server('digests/send-digest-message.ts', 'knownWithinMs') / minute,
  ],
  [/After (\d+) hours, Earshot gives up/g, server('digests/send-digest-message.ts', 'givenUpAfterMs') / hour],
  [
    /You get the \[notice\]\(notices\.md\) `digest\.failing` after (\d+) min/g,
    server('digests/digest-messages.sql.ts', 'noticeAfterMs') / minute,
  ],
  // Rules and their cost
  [
    /A rule can have (\d+) examples of each kind/g,
    constantIn('packages/contract/src/rule-examples.ts', 'EXAMPLES_MAX'),
  ],
  [/the query matches, and up to (\w+) of them/g, server('estimates/evaluate-items.ts', 'shownMax')],
  [/Above about ([\d,]+) stored items/g, server('estimates/evaluate-items.ts', 'rowsMax')],
  [
    /After (\w+) matches, (\w+) minutes, or its end/g,
    server('estimates/trials.sql.ts', 'runningMatchesMin'),
    server('estimates/trials.sql.ts', 'runningMsMin') / minute,
  ],
  [
    /does not wait more than ([\d.]+) s for the platform/g,
    server('budgets/assert-affordable.ts', 'usualAnswerWithinMs') / second,
  ],
  [
    /for (\d+) s on X and for (\d+) s on Firehose/g,
    platforms.x.stopsWithinMs / second,
    platforms.firehose.stopsWithinMs / second,
  ],
  // MCP
  [
    /`max_tokens` \(([\d,]+) by default, ([\d,]+) to/g,
    maxTokens.parse(undefined),
    constantIn('packages/mcp/src/content/answer-matches.ts', 'maxTokensMin'),
  ],
  [/the (\d+) most expensive rules/g, constantIn('packages/mcp/src/tools/get-usage.ts', 'rowsMax')],
  [/at most once every (\d+) s/g, constantIn('packages/mcp/src/channel.ts', 'pauseMs') / second],
  // Operation
  [
    /up to (\d+) connections to PostgreSQL: (\d+) for each of the server's two logins, and (\d+) for/g,
    2 * nodeConnections.perLogin + nodeConnections.owner,
    nodeConnections.perLogin,
    nodeConnections.owner,
  ],
  [/opens up to (\d+) PostgreSQL connections/g, 2 * nodeConnections.perLogin + nodeConnections.owner],
  [/until its leases have expired \((\d+) seconds\)/g, switches.leaseTtlMs / second],
  [/answers `\/readyz` with 503 for (\d+) seconds/g, balancerNoticesMs / second],
  [/Give it (\d+) seconds before you kill it/g, (shutdownWithinMs + balancerNoticesMs) / second + 5],
  [/A node has (\d+) seconds to stop/g, (shutdownWithinMs + balancerNoticesMs) / second + 5],
  [/messages of up to (\d+) events/g, server('event-log/event-message.ts', 'eventsPerMessageMax')],
  [/the stream is closed after (\d+) s/g, server('ingest/listen.ts', 'refusedMsMax') / second],
  [/add credit; the node retries every (\d+) min/g, usualProtocol.waits.credit.firstMs / minute],
  [
    /delivers less than (\d+)% of its usual number of items in (\d+) min/g,
    server('ingest/volume.ts', 'quietBelow') * 100,
    server('ingest/volume.ts', 'windowMinutes'),
  ],
  [/has received nothing for (\d+) s/g, server('coverage/notify-gaps.ts', 'disconnectedAfterSeconds')],
  [
    /gaps under (\d+) s that were repaired within (\d+) minutes/g,
    server('ingest/coverage-intervals.sql.ts', 'shortGapSeconds'),
    server('coverage/notify-gaps.ts', 'repairedWithinMinutes'),
  ],
  [
    /Every (\d+) s it reads from the database when each source/g,
    server('compose/workers.ts', 'freshnessEveryMs') / second,
  ],
  [/deleted in batches of at most ([\d,]+) rows/g, server('removals/delete-account.ts', 'rowsAtOnce')],
];

test.each(documented)('%s: the pages have the numbers of the code', (phrase, ...numbers) => {
  const found = pages.flatMap(({ path, text }) =>
    Array.from(text.matchAll(phrase), ([, ...shown]) => ({ path, numbers: shown.map(toNumber) })),
  );
  expect(found).not.toEqual([]);
  expect(found).toEqual(found.map(({ path }) => ({ path, numbers })));
});

test('docs/operations/accounts.md has the limits of both plans', () => {
  const migration = readFileSync(join(root, 'apps/server/migrations/0002_accounts.sql'), 'utf8');
  const [, columns = '', rows = ''] = /insert into plans \((.*)\) values\n([^;]+);/.exec(migration) ?? [];
  const limitsOf = (plan: string) => {
    const [, values = ''] = new RegExp(`\\('${plan}', (.*?)\\)`).exec(rows) ?? [];
    return values.split(', ').map(Number);
  };
  const names = columns.split(', ').slice(1);
  expect(names.toSorted()).toEqual(limitNames.toSorted());
  const page = readFileSync(join(root, 'docs/operations/accounts.md'), 'utf8');
  const shown = Array.from(
    page.matchAll(/^\| .*`(\w+)`.* \| ([\d,]+) \| ([\d,]+) \|$/gm),
    ([, name, free, paid]) => [name, [toNumber(free), toNumber(paid)]],
  );
  const [free, paid] = [limitsOf('free'), limitsOf('paid')];
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries(names.map((name, index) => [name, [free[index], paid[index]]])),
  );
});
