import type { AnswerOf, RequestOf } from '@earshot/contract';
import { migratedTemplate } from '@earshot/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../src/engines/database.ts';
import type { LogEvent } from '../src/event-log/event-log.ts';
import { createFeed, deleteFeed, listFeeds } from '../src/feeds/manage-feeds.ts';
import { createReadFeed } from '../src/feeds/read-feed.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { removeExpiredDays } from '../src/matching/retention.ts';
import { createLogger } from '../src/observability/logger.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import { labelMatches } from '../src/relevance/label-matches.ts';
import { deleteMute, muteMatches } from '../src/relevance/manage-mutes.ts';
import { removeItems } from '../src/removals/remove-items.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { matchIdOf, positionOf } from '../src/runtime/ids.ts';
import { callOf } from './call-of.ts';
import { parseAtom, parseJsonFeed } from './feed-documents.ts';
import { serverWith } from './http-server.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules, silentTelemetry } from './support.ts';

const template = migratedTemplate();
let stack: AsyncDisposableStack;
let database: Database;
let node: Awaited<ReturnType<typeof startNode>>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 3);
  await database.run(`update rules set name = 'rule ' || substr(id, 6)`);
  await database.run(
    `insert into api_keys (id, account_id, hash, display, scopes) values ('key_1', 'acc_1', '', '', '{}')`,
  );
  node = await startNode(clone.url);
});
afterEach(() => stack.disposeAsync());

/** A node with its own connections and caches: real HTTP, with the log lines, metrics and statements that it writes. */
async function startNode(url: string) {
  let statements = 0;
  const nothing = { observe: () => undefined, startTimer: () => () => 0 };
  const measured = {
    pools: [],
    statementSeconds: { ...nothing, observe: () => void statements++ },
    connectionWaitSeconds: nothing,
  };
  const own = stack.use(
    openDatabase({
      url,
      connectionsMax: 4,
      onIdleError: () => undefined,
      measure: { name: 'test', metrics: measured as never },
    }),
  );
  const parsedRules = createParsedRules();
  const views = createViews({ database: own, hasJudge: false });
  const contact = 'the operator';
  const options = {
    database: own,
    parsedRules,
    views,
    contact,
    rules: createRuleStore(own),
    cursors: createCursors(Buffer.alloc(32)),
    publicUrl: null,
  };
  let nowMs = 0;
  const lines: string[] = [];
  const log = createLogger({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const metrics = createMetrics();
  const server = stack.use(
    serverWith(
      {
        telemetry: createTelemetry(log, metrics),
        readFeed: createReadFeed({
          ...options,
          reader: createMatchReader(own),
          hasJudge: false,
          installationId: 'test',
          consoleUrl: 'https://earshot.example/',
          nowMs: () => nowMs,
        }),
      },
      log,
    ),
  );
  const address = await server.listen('127.0.0.1', 0);
  return {
    create: createFeed(options),
    list: listFeeds(options),
    delete: deleteFeed(options),
    label: labelMatches(options),
    mute: muteMatches(options),
    unmute: deleteMute(options),
    lines,
    metrics,
    pass: (ms: number) => (nowMs += ms),
    countStatements: async (work: () => Promise<unknown>) => {
      const before = statements;
      await work();
      return statements - before;
    },
    get: async (path: string | null, headers: Record<string, string> = {}, method = 'GET') => {
      const response = await fetch(new URL(path ?? '', address), { method, headers });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

type Answered = Awaited<ReturnType<typeof node.get>>;

const withAllScopes = { scopes: ['keys:write', 'matches:read'] } as const;

async function create(request: Partial<RequestOf<'CreateFeed'>> = {}, accountId = 'acc_1') {
  const call = callOf('CreateFeed', { name: 'feed', ...request }, accountId);
  const created = await node.create({ ...call, principal: { ...call.principal, ...withAllScopes } });
  return { ...created, path: created.atom_url ?? '', jsonPath: created.json_url ?? '' };
}

let events = 0;

/** As a match worker stores them: a match of each rule. Returns the ids of the matches. */
async function store(payload: Partial<LogEvent['payload']> = {}, rules = ['rule_1']): Promise<string[]> {
  const event = xEvent(++events);
  const post = { ...event, payload: { ...event.payload, text: `post ${events}`, ...payload } };
  await createMatchStore(database).write(
    [post],
    rules.map((rule) => xMatch(post, rule)),
    [],
    [],
  );
  const rows = await database.many<{ position: number }>(
    'select position from matches where event_key = $1 order by position',
    [post.key],
  );
  return rows.map(({ position }) => matchIdOf(position));
}

const remove = async (matchId: string) => {
  const row = await database.one<{ key: string }>(
    'select event_key as key from matches where position = $1',
    [positionOf(matchId)],
  );
  const items = [{ platform: 'x', eventKey: row?.key ?? '' } as const];
  await removeItems(database, xEvent(0).day, { items, reason: 'withheld' });
};

const titlesOf = (answer: Answered) => parseAtom(answer.text).entries.map(({ title }) => title);

/** A feed reader that sends back what it got, in one of the two ways. */
function createFeedReader(path: string, by: 'tag' | 'date') {
  let conditions: Record<string, string> = {};
  return async (): Promise<Answered> => {
    const answer = await node.get(path, conditions);
    const [etag, date] = [answer.headers.get('etag') ?? '', answer.headers.get('last-modified') ?? ''];
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(Date.parse(date)).toBeLessThanOrEqual(Date.now() + 1_000);
    conditions = by === 'tag' ? { 'if-none-match': `"other", W/${etag}` } : { 'if-modified-since': date };
    if (answer.status === 304) expect(answer.text).toBe('');
    return answer;
  };
}

/** Each changes what the feed below shows. */
const changes: ReadonlyArray<readonly [string, (first: string) => Promise<unknown>, readonly string[]]> = [
  ['a new match', () => store({ text: 'second' }), ['second', 'first']],
  ['the removal of an item', remove, []],
  [
    // The node has read the mutes of the account a moment ago.
    'a mute that another node makes',
    () =>
      database.run(
        `insert into mutes (id, account_id, field, value) values ('mut_1', 'acc_1', 'phrase', ' first ')`,
      ),
    [],
  ],
  ['a label', (id) => node.label(callOf('LabelMatches', { match_ids: [id], label: 'not_relevant' })), []],
  [
    'the deletion of the rule',
    () => database.run(`update rules set state = 'deleted' where id = 'rule_1'`),
    [],
  ],
  [
    'a new name of the rule',
    () => database.run(`update rules set name = 'new' where id = 'rule_1'`),
    ['first'],
  ],
  [
    'the end of retention',
    () => removeExpiredDays({ database, retentionDays: -1, telemetry: silentTelemetry() }),
    [],
  ],
];

test.each(changes)('a feed reader gets 304 until %s changes the content', async (_name, change, after) => {
  const { path } = await create({ rule_ids: ['rule_1', 'rule_2'], relevance: 'relevant' });
  const [first = ''] = await store({ text: 'first' });
  const byTag = createFeedReader(path, 'tag');
  const byDate = createFeedReader(path, 'date');
  expect(titlesOf(await byTag())).toEqual(['first']);
  expect((await byDate()).status).toBe(200);
  // What another account, or another rule, gets changes nothing.
  await store({}, ['rule_3']);
  expect([(await byTag()).status, (await byDate()).status]).toEqual([304, 304]);
  // Within the same second, which is as exact as a date is.
  await change(first);
  const changed = await byTag();
  expect([changed.status, titlesOf(changed)]).toEqual([200, after]);
  expect([(await byTag()).status, (await byDate()).status]).toEqual([304, 200]);
});

test('a mute that is deleted shows the matches again, under another tag and date', async () => {
  const { path } = await create();
  await store({ text: 'first' });
  const byDate = createFeedReader(path, 'date');
  const before = await byDate();
  const { mute_id } = await node.mute(callOf('MuteMatches', { phrase: 'first' }));
  expect(titlesOf(await byDate())).toEqual([]);
  await node.unmute(callOf('DeleteMute', { mute_id }));
  const after = await byDate();
  expect(titlesOf(after)).toEqual(['first']);
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
});

test('a removed match is listed as deleted, and both formats have the same entries', async () => {
  const { path, jsonPath } = await create();
  await store({ text: 'first' });
  const [first] = parseAtom((await node.get(path)).text).entries;
  const [second = ''] = await store({ text: 'second', url: 'https://example.com/2' }, ['rule_1', 'rule_2']);
  const atom = parseAtom((await node.get(path)).text);
  expect(atom.entries.map(({ categories }) => categories)).toEqual([
    ['rule 2', 'X'],
    ['rule 1', 'X'],
    ['rule 1', 'X'],
  ]);
  const { items } = parseJsonFeed((await node.get(jsonPath)).text);
  expect(items.map(({ id }) => id)).toEqual(atom.entries.map(({ id }) => id));
  await remove(second);
  const { entries, deleted } = parseAtom((await node.get(path)).text);
  expect(entries).toEqual([first]);
  expect(deleted).toEqual(atom.entries.slice(0, 2).map(({ id }) => id));
});

test('a feed has the newest 50 matches of its rules, platform and words, as far as they are shown', async () => {
  const ofRule = await create({ name: 'rule', rule_ids: ['rule_2'] });
  const ofWords = await create({ name: 'words', query: 'WANTED words', relevance: 'not_irrelevant' });
  const elsewhere = await create({ name: 'platform', platform: 'firehose' });
  const wanted = await store({ text: 'words that are wanted' });
  const [hidden = ''] = await store({ text: 'wanted words too' });
  await node.label(callOf('LabelMatches', { match_ids: [hidden], label: 'not_relevant' }));
  for (let n = 0; n < 60; n++) await store({ text: `other ${n}` }, ['rule_2']);
  expect(titlesOf(await node.get(ofRule.path))).toEqual(
    Array.from({ length: 50 }, (_, index) => `other ${59 - index}`),
  );
  const { items } = parseJsonFeed((await node.get(ofWords.jsonPath)).text);
  expect(items.map(({ _earshot }) => _earshot.match_id)).toEqual(wanted);
  expect(titlesOf(await node.get(elsewhere.path))).toEqual([]);
});

test('a 304 costs a bounded number of statements and reads no matches', async () => {
  for (const relevance of ['all', 'relevant'] as const) {
    const { path } = await create({ name: relevance, relevance });
    for (let n = 0; n < 5; n++) await store();
    const read = createFeedReader(path, 'tag');
    const whole = await node.countStatements(read);
    expect(await node.countStatements(read)).toBe(3);
    // The control: the bound would not hold for an answer with content.
    expect(whole).toBeGreaterThan(6);
  }
  const { feeds } = await node.list(callOf('ListFeeds', { limit: 100 }));
  expect(feeds.map(({ last_read_at }) => Date.now() - Date.parse(last_read_at ?? ''))).toEqual(
    feeds.map(() => expect.closeTo(0, -5)),
  );
});

test('the answers say that they are private, and HEAD has the same headers without content', async () => {
  const { path, jsonPath } = await create();
  await store();
  const atom = await node.get(path);
  expect(Object.fromEntries(atom.headers)).toMatchObject({
    'content-type': 'application/atom+xml; charset=utf-8',
    'cache-control': 'private, max-age=60',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect((await node.get(jsonPath)).headers.get('content-type')).toBe('application/feed+json; charset=utf-8');
  const head = await node.get(path, {}, 'HEAD');
  const shown = ({ headers }: Answered) =>
    ['etag', 'last-modified', 'content-type'].map((name) => headers.get(name));
  expect([head.status, head.text, ...shown(head)]).toEqual([200, '', ...shown(atom)]);
  // Nothing is rendered for it.
  expect(await node.countStatements(() => node.get(path, {}, 'HEAD'))).toBe(3);
  expect((await node.get(path, { 'if-none-match': atom.headers.get('etag') ?? '' }, 'HEAD')).status).toBe(
    304,
  );
  // The tag of one format is not that of the other.
  expect((await node.get(jsonPath, { 'if-none-match': atom.headers.get('etag') ?? '' })).status).toBe(200);
});

test('unknown, malformed, deleted and expired URLs, and those of a suspended account, have the same answer', async () => {
  const { path, id } = await create();
  const expiring = await create({ name: 'expiring' });
  expect((await node.get(path)).status).toBe(200);
  const deleted = await node.delete(callOf('DeleteFeed', { feed_id: id }));
  expect(deleted).toEqual({ feed_id: id, deleted_at: expect.any(String) });
  const headers = { 'x-request-id': 'same', accept: 'text/html' };
  const seen = async (url: string, method?: string) => {
    const answer = await node.get(url, headers, method);
    const { date: _, connection: __, 'keep-alive': ___, ...rest } = Object.fromEntries(answer.headers);
    return { ...answer, headers: rest };
  };
  const gone = await seen(path);
  expect([gone.status, gone.headers['cache-control']]).toEqual([404, 'no-store']);
  const unknown = path.replace(/.{8}\.atom$/, '00000000.atom');
  const malformed = [
    '/feeds/',
    '/feeds/x',
    '/feeds/x.atom',
    path.slice(0, -1),
    `${path}/`,
    `/feeds/${'a'.repeat(500)}`,
  ];
  for (const url of [unknown, ...malformed, path.replace('.atom', '.rss'), path.replace('esf_', 'esk_')])
    expect([url, await seen(url)]).toEqual([url, gone]);
  await database.run(`update feeds set expires_at = now() where id = $1`, [expiring.id]);
  expect(await seen(expiring.path)).toEqual(gone);
  await database.run(`update feeds set expires_at = null`);
  expect((await seen(expiring.path)).status).toBe(200);
  await database.run(`update accounts set suspended_at = now()`);
  expect(await seen(expiring.path)).toEqual(gone);
});

test('a feed may be read 60 times per minute, before that costs anything', async () => {
  const { path, jsonPath } = await create();
  const other = await create({ name: 'other' });
  for (let n = 0; n < 60; n++) expect((await node.get(n % 2 ? path : jsonPath)).status).toBe(200);
  let refused = await node.get(path);
  expect(await node.countStatements(async () => (refused = await node.get(path)))).toBe(0);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'resource_exhausted', details: { limit: 60 } });
  expect((await node.get(other.path)).status).toBe(200);
  node.pass(1_000);
  expect((await node.get(path)).status).toBe(200);
});

test('no log line, metric, error, list, audit entry or stored row has the token', async () => {
  const { path, id, atom_url } = await create();
  const token = /esf_[\w-]{32}/.exec(path)?.[0] ?? 'none';
  const secret = token.slice('esf_'.length);
  await store();
  const answers = [
    await node.get(path),
    await node.get(path, {}, 'HEAD'),
    await node.get(`${path}?a=%zz`),
    await node.get(`${path}%zz`),
    await node.get(path.replace('.atom', '.rss')),
    await node.get(path, {}, 'POST'),
    await node.get(`./${path}`, {}, 'PUT'),
  ];
  await database.run('alter table heads rename to heads_away');
  answers.push(await node.get(path));
  await database.run('alter table heads_away rename to heads');
  for (let n = 0; n < 61; n++) answers.push(await node.get(path));
  expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 400, 404, 429, 500]));
  await node.delete(callOf('DeleteFeed', { feed_id: id }));
  const logged = node.lines.map((line) => JSON.parse(line));
  expect(logged[0]).toMatchObject({ operation: 'ReadFeed', status: 200, feedId: id, accountId: 'acc_1' });
  const stored = await database.many<object>('select feeds.*, audit.* from audit left join feeds on true');
  const seen = [
    ...node.lines,
    await node.metrics.registry.metrics(),
    ...answers.map(({ text, headers }) => text + JSON.stringify([...headers])),
    JSON.stringify(await node.list(callOf('ListFeeds', { limit: 100 }))),
    JSON.stringify(stored),
  ].join('\n');
  expect(atom_url).toContain(secret);
  expect(seen).not.toContain(secret);
  // The second line of defence: a token that reaches a log call is masked.
  createLogger({ level: 'info' }, { write: (line) => expect(line).not.toContain(secret) }).info(
    `read ${path}`,
  );
});

test('a feed gets no more than its key has, a unique name, and as many places as the plan has keys', async () => {
  await database.run(`update api_keys set expires_at = '2100-01-01'`);
  const created = await create({ rule_ids: ['rule_1'], query: 'words' });
  const { atom_url, json_url, feed_id, path: _, jsonPath: __, ...feed } = created;
  expect(feed).toMatchObject({ id: feed_id, expires_at: '2100-01-01T00:00:00.000Z', last_read_at: null });
  expect([atom_url, json_url]).toEqual([
    expect.stringMatching(/^\/feeds\/esf_[\w-]{32}\.atom$/),
    atom_url?.replace('.atom', '.json'),
  ]);
  const listed: AnswerOf<'ListFeeds'> = await node.list(callOf('ListFeeds', { limit: 100 }));
  expect(listed.feeds).toEqual([feed]);
  await expect(create()).rejects.toMatchObject({ code: 'already_exists' });
  const withoutMatches = callOf('CreateFeed', { name: 'other' });
  await expect(node.create(withoutMatches)).rejects.toMatchObject({ code: 'permission_denied' });
  const limited = { ...withoutMatches.principal, ...withAllScopes };
  const limits = { ...limited.limits, keys: 1 };
  await expect(node.create({ ...withoutMatches, principal: { ...limited, limits } })).rejects.toMatchObject({
    code: 'resource_exhausted',
    details: { reason: 'plan_limit', limit: 1, used: 1 },
  });
  await database.run(`update api_keys set revoked_at = now()`);
  await expect(create({ name: 'other' })).rejects.toMatchObject({ code: 'unauthenticated' });
});
