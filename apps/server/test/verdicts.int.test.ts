import type { Template } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import type { Sql } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import type { LoggedEvent } from '../src/event-log/event-consumer.ts';
import type { LogEvent } from '../src/event-log/event-log.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { createMatchWorker } from '../src/matching/match-worker.ts';
import { createVerdictSampler, createVerdictStore, forgetVerdicts } from '../src/matching/verdicts.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import { platforms } from '../src/upstream/platforms.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase, seedRules, silentLog } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());
afterEach(() => void vi.restoreAllMocks());

/** One source with a rule per value, registered an hour ago, whose list is read again when the test says so. */
async function openWorld(values: readonly string[]) {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, values.length);
  await database.run(
    `update slots set value = new.value, confirmed_at = now() - interval '1 hour'
     from unnest($1::text[]) with ordinality as new (value, n) where slots.id = 'slot_' || n`,
    [values],
  );
  await database.run('update sources set rule_delay_ms = 20000');
  const installation = (await readInstallation(database)).id;
  const metrics = createMetrics();
  const telemetry = createTelemetry(silentLog, metrics);
  const parsedRules = createParsedRules();
  const clock = { aheadMs: 0 };
  const sampler = createVerdictSampler({
    installation,
    parsedRules,
    telemetry,
    store: createVerdictStore(database),
    nowMs: () => Date.now() + clock.aheadMs,
  });
  const all = stack.move();
  return {
    database,
    url: clone.url,
    sampler,
    metrics,
    /** One batch by the real worker, a second after the one before. */
    async deliver(events: readonly LogEvent[], store: MatchStore = createMatchStore(database)) {
      clock.aheadMs += 1_000;
      const batch = events.map((event, index): LoggedEvent => {
        const nothing = () => undefined;
        return {
          sequence: index + 1,
          event,
          body: '',
          loggedAt: null,
          deliveries: 1,
          ack: nothing,
          message: { open: 1 },
          redeliver: nothing,
        };
      });
      await createMatchWorker({
        name: 'match:1',
        installation,
        consumer: {
          async *batches() {
            yield batch;
          },
        },
        store,
        parsedRules,
        telemetry,
        bells: createLocalBells(),
        sampleVerdicts: sampler.sample,
      }).run(new AbortController().signal);
    },
    /** As the registrar does, at a time that no clock can doubt. */
    readList: () => database.run(`update sources set rules_seen_at = now() + interval '1 minute'`),
    rows: () =>
      database.many(
        `select platform, operator, outcome, count from verdicts where day = (now() at time zone 'UTC')::date
         order by platform, operator, outcome`,
      ),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A post that the platform says matched rule 1. */
function auroraPost(number: number): LogEvent {
  const event = xEvent(number);
  const published_at = new Date().toISOString();
  return {
    ...event,
    payload: { ...event.payload, published_at, raw: { data: { text: 'an aurora', lang: 'en' } } },
  };
}

test('a post that is matched becomes verdicts on the rules that are certainly registered and on no others', async () => {
  await using world = await openWorld([
    'aurora',
    'glacier',
    'lang:de',
    'aurora',
    'aurora',
    'aurora',
    'aurora',
  ]);
  const { database, sampler, metrics, rows } = world;
  // Each of these would be `false`: too new to be heeded, being removed, waiting, and on another source.
  await database.run(`update slots set confirmed_at = now() - interval '15 s' where id = 'slot_4'`);
  await database.run(`update slots set state = 'releasing' where id = 'slot_5'`);
  await database.run(`update slots set state = 'wanted' where id = 'slot_6'`);
  await database.run(`insert into sources (id, platform, capacity) values ('x:other', 'x', 1000)`);
  await database.run(`update slots set source_id = 'x:other' where id = 'slot_7'`);

  await world.deliver([auroraPost(1)]);
  await sampler.compare();
  expect(await rows(), 'the list was not read since').toEqual([]);
  await world.readList();
  await sampler.compare();
  const x = { platform: 'x', outcome: 'agreed' };
  expect(await rows()).toEqual([
    { ...x, operator: 'keyword', count: 2 },
    { ...x, operator: 'lang', count: 1 },
  ]);

  // A second step adds to the same rows.
  await world.deliver([auroraPost(2)]);
  await sampler.compare();
  expect(await rows()).toMatchObject([{ count: 4 }, { count: 2 }]);
  expect(await metrics.registry.metrics()).toContain(
    'earshot_verdicts_total{platform="x",operator="lang",outcome="agreed"} 2',
  );
});

test('control: an evaluator that is wrong about an operator shows up under it, both ways', async () => {
  await using world = await openWorld(['aurora', 'lang:de', 'glacier']);
  const { language } = platforms.x;
  const { explain } = language;
  const turned = { match: 'no_match', no_match: 'match', unknown: 'unknown' } as const;
  const isWrong = (root: Parameters<typeof explain>[0]) => root.kind === 'leaf' && root.field === 'lang';
  vi.spyOn(language, 'explain').mockImplementation((root, item) => {
    const explained = explain(root, item);
    return isWrong(root) ? { ...explained, state: turned[explained.state] } : explained;
  });
  const named = { ...auroraPost(2), rules: [{ upstreamRuleId: '2', tag: null }] };
  const raw = { data: { text: 'nichts', lang: 'de' } };
  await world.deliver([auroraPost(1)]);
  await world.readList();
  await world.deliver([{ ...named, payload: { ...named.payload, raw } }]);
  await world.sampler.compare();
  const x = { platform: 'x' };
  expect(await world.rows()).toEqual([
    { ...x, operator: 'keyword', outcome: 'agreed', count: 4 },
    { ...x, operator: 'lang', outcome: 'false', count: 1 },
    { ...x, operator: 'lang', outcome: 'missed', count: 1 },
  ]);
});

test('nothing is compared before the matches are committed, and nothing of a full batch', async () => {
  await using world = await openWorld(['aurora', 'glacier']);
  const { database, sampler } = world;
  await world.readList();
  const store = createMatchStore(database);
  const explain = vi.spyOn(platforms.x.language, 'explain');
  const write: MatchStore['write'] = async (...written) => {
    // A step in the middle of the transaction has nothing to do yet.
    await sampler.compare();
    return await store.write(...written);
  };
  await world.deliver([auroraPost(1)], { ...store, write });
  expect(explain).not.toHaveBeenCalled();
  await sampler.compare();
  expect(explain).toHaveBeenCalledTimes(2);

  await world.deliver(Array.from({ length: 1_000 }, (_, n) => auroraPost(n + 2)));
  await sampler.compare();
  expect(explain).toHaveBeenCalledTimes(2);
});

test('the login of a node may write the totals, and old days are forgotten', async () => {
  await using world = await openWorld([]);
  const { database } = world;
  const asRuntime = <Result>(work: (sql: Sql) => Promise<Result>) =>
    database.transaction(async (sql) => {
      await sql.run('set local role earshot_runtime');
      return await work(sql);
    });
  const counts = [{ platform: 'x', operator: 'lang', outcome: 'agreed', count: 1 }] as const;
  for (let time = 0; time < 2; time++)
    await asRuntime((sql) => createVerdictStore({ ...database, ...sql }).add(counts));
  await expect(asRuntime((sql) => sql.run('delete from verdicts'))).rejects.toThrow('permission denied');
  await database.run(`insert into verdicts select day - 500, platform, operator, outcome, 7 from verdicts`);
  await forgetVerdicts(database);
  expect(await database.many('select outcome, count from verdicts')).toEqual([
    { outcome: 'agreed', count: 2 },
  ]);
});

test('the operator sees totals of the days asked for, and which operators are proven', async () => {
  await using world = await openWorld([]);
  await world.database.run(
    `insert into verdicts select (now() at time zone 'UTC')::date - days_ago, platform, operator, outcome, count from (values
       (0, 'x', 'from', 'agreed', 600), (3, 'x', 'from', 'agreed', 400), (3, 'x', 'from', 'undecided', 5),
       (0, 'x', 'lang', 'agreed', 5000), (0, 'x', 'lang', 'missed', 1),
       (0, 'x', 'several', 'agreed', 5000), (0, 'firehose', 'title', 'false', 2)
     ) as given (days_ago, platform, operator, outcome, count)`,
  );
  await using admin = await openAdmin(world.url);
  const none = { agreed: 0, false: 0, missed: 0, undecided: 0, proven: false };
  const from = { ...none, platform: 'x', operator: 'from' };
  const others = [
    { ...none, platform: 'x', operator: 'lang', agreed: 5_000, missed: 1 },
    { ...none, platform: 'x', operator: 'several', agreed: 5_000 },
    { ...none, platform: 'firehose', operator: 'title', false: 2 },
  ];
  expect(await admin.listVerdicts(4)).toEqual([
    { ...from, agreed: 1_000, undecided: 5, proven: true },
    ...others,
  ]);
  expect(await admin.listVerdicts(3)).toEqual([{ ...from, agreed: 600 }, ...others]);
});
