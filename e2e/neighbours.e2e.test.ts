import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, testNightly } from '@earshot/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ruleWord, startFeed } from './soak/feed.ts';
import { verdictOn } from './soak/verdict.ts';
import {
  type Follower,
  followByLongPoll,
  followByName,
  followByStream,
  followByWebhook,
} from './src/followers.ts';
import { checkOutPreviousVersion, type PreviousVersion } from './src/previous-version.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const turns = 12;
const turnMs = 4_000;
const within = { timeoutMs: 90_000, intervalMs: 500 };
const common = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_ALLOW_INSECURE_WEBHOOKS: 'true',
  EARSHOT_STREAMS_PER_KEY_MAX: '20',
  // More changes of rules than X allows in a minute.
  EARSHOT_UPSTREAM_PACE: '100',
  // What nobody heard stays missing: the ledger must say so.
  EARSHOT_X_SEARCH_POSTS_PER_DAY: '0',
};
const answering = { ...common, EARSHOT_ROLES: 'api' };
const working = { ...common, EARSHOT_ROLES: 'ingest,match,deliver' };

let previous: PreviousVersion;
let world: World;
beforeEach(async () => {
  previous = await checkOutPreviousVersion();
  world = await startWorld({ sandbox: { rateLimits: false } });
  // As in an installation that the version before has made.
  await world.admin.packEvents(false);
});
afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
  await previous?.[Symbol.asyncDispose]();
});

/** Rules that one version creates and the other changes, in turns; the operations that did not succeed. */
async function changeRules(apis: readonly ServerUnderTest[], account: Account, signal: AbortSignal) {
  const failed: string[] = [];
  let done = 0;
  const ask = async (path: string, body: object): Promise<{ rule_id?: string }> => {
    const node = apis[done++ % apis.length];
    const answer = await node?.api(account).call('POST', path, body);
    if (answer?.status !== 200) failed.push(`${path}: ${answer?.status} ${answer?.text}`);
    return Object(answer?.json);
  };
  while (!signal.aborted) {
    const value = `word${done}`;
    const { rule_id } = await ask('/api.CreateRule', {
      name: value,
      intent: 'to be changed',
      platforms: ['x'],
      overrides: { x: value },
    });
    await ask('/api.UpdateRule', { rule_id, platforms: ['x'], overrides: { x: `${value} OR changed` } });
    await ask('/api.PauseRule', { rule_id });
    await ask('/api.ResumeRule', { rule_id });
    await ask('/api.GetCoverage', { rule_id });
    await ask('/api.DeleteRule', { rule_id });
    // One more, so that the next rule is created by the other version.
    await ask('/matches', { limit: 1 });
  }
  return { failed, done };
}

/** The workers of one version take over from those of the other, again and again; these are the first. */
async function moveLeases(first: ServerUnderTest): Promise<void> {
  let current = first;
  for (let turn = 0; turn < turns; turn++) {
    await sleep(turnMs);
    const next = await world.startServer(working, turn % 2 === 0 ? previous.script : undefined);
    // Both are at work here.
    await sleep(turnMs);
    await current.stop();
    current = next;
  }
}

/** Both versions answer and work, under traffic and with leases that move; what came of it. */
async function runBeside() {
  const account = await world.newAccount();
  const apis = [await world.startServer(answering), await world.startServer(answering, previous.script)];
  const first = await world.startServer(working);
  const api = apis[0]?.api(account);
  if (!api) throw new Error('there is no node');
  const { rule_id: ruleId } = await api.createRule({ x: ruleWord, firehose: ruleWord });
  const over = new AbortController();
  let asked = 0;
  const start = (await api.matches({ order: 'oldest' })).next_cursor ?? '';
  const url = () => apis[asked++ % apis.length]?.url ?? '';
  const options = { url, key: account.key, start, signal: over.signal };
  const followers = [
    followByLongPoll(options),
    followByName(options),
    ...apis.map((node) => followByStream({ ...options, url: () => node.url })),
    await followByWebhook(options),
  ];
  const feed = startFeed(world.sandbox, 40);
  const changing = new AbortController();
  const changes = changeRules(apis, account, changing.signal);
  await moveLeases(first);
  changing.abort();
  const { failed, done } = await changes;
  await feed.stop();
  return { api, feed, ruleId, followers, failed, done, stop: () => over.abort() };
}

const idsOf = ({ matches }: Follower) => matches.map(({ id }) => id);

testNightly(
  'the version before beside this one, both ways: nothing lost, nothing doubled, no request failed',
  {},
  async () => {
    const { api, feed, ruleId, followers, failed, done, stop } = await runBeside();
    expect(failed).toEqual([]);
    const verdicts = await eventually(async () => {
      const x = await verdictOn('x', { api, feed, ruleId });
      const firehose = await verdictOn('firehose', { api, feed, ruleId });
      const fine = { lost: [], doubled: [], strangers: [] };
      expect({ x, firehose }).toMatchObject({ x: fine, firehose: { ...fine, inGaps: 0 } });
      return { x, firehose };
    }, within);
    const listed = (await api.allMatches()).map(({ id }) => id);
    for (const follower of followers) {
      await eventually(() => expect(new Set(idsOf(follower))).toEqual(new Set(listed)), within);
      if (follower.name !== 'webhook') expect(idsOf(follower)).toEqual(listed);
      expect({ name: follower.name, failures: follower.failures() }).toEqual({
        name: follower.name,
        failures: 0,
      });
    }
    stop();
    const log = (await world.serverLog()).split('\n');
    expect(log.filter((line) => /"status":5\d\d/.test(line))).toEqual([]);
    expect(log.filter((line) => line.includes('"worker failed"'))).toEqual([]);
    console.info(
      `${turns} moves of the leases, ${done} operations, ${listed.length} matches; of ${verdicts.x.sent} posts ${verdicts.x.inGaps} in gaps`,
    );
  },
);

test('a migration that the version before cannot work with keeps it from starting', async () => {
  const applied = (compatibleWith: string | null) =>
    world.database.query(
      `insert into migrations (name, checksum, compatible_with) values ('9999_next.sql', '', $1)
       on conflict (name) do update set compatible_with = excluded.compatible_with`,
      [compatibleWith],
    );
  await applied(null);
  await expect(world.startServer({}, previous.script)).rejects.toThrow(
    /A newer version has migrated this database/,
  );
  await applied('0001_rules.sql');
  await using _started = await world.startServer({}, previous.script);
});

testNightly('control: a version before that writes events in another form is found out', {}, async () => {
  const file = join(previous.dir, 'apps/server/src/event-log/event-log.ts');
  const before = await readFile(file, 'utf8');
  const after = before.replace(
    'JSON.stringify(event)',
    'JSON.stringify({ ...event, rules: event.rules.map((rule) => ({ ruleId: rule.upstreamRuleId })) })',
  );
  expect(after).not.toBe(before);
  await writeFile(file, after);
  const { api, feed, ruleId, stop } = await runBeside();
  stop();
  await sleep(5_000);
  expect((await verdictOn('firehose', { api, feed, ruleId })).lost).not.toEqual([]);
});
