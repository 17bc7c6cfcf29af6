import { parseArgs } from 'node:util';
import { openDatabase } from '../apps/server/src/engines/database.ts';
import { readInstallation } from '../apps/server/src/engines/installation.ts';
import { migrate } from '../apps/server/src/engines/migrate.ts';
import { createMatchStore } from '../apps/server/src/matching/match-store.sql.ts';
import { type storyItemOf } from '../apps/server/src/stories/story-keys.ts';
import { copyDatabase, openBarePath } from './pipeline/bare-path.ts';
import { describe, measure, median, spread, total } from './pipeline/figures.ts';
import { startEngines } from './start-engines.ts';
import { createFeed } from './stories/feed.ts';

/**
 * Measures what stories cost: the same events go through NATS into two databases, with stories and without, in alternating rounds. The
 * result is the processor time per event of this client, PostgreSQL and NATS. The server itself does more (`bench:pipeline`), of which
 * stories are a smaller share.
 */
const { values: given } = parseArgs({
  options: {
    events: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    'nats-nodes': { type: 'string', default: '3' },
  },
});
const events = Number(given.events);
const rounds = Number(given.rounds);
const replicas = given['nats-nodes'] === '1' ? 1 : 3;
const rules = 20;
const eventsPerMessage = 32;
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
const engines = await startEngines(stack, replicas);
await migrate(engines.postgresUrl);

async function seed() {
  await using database = openDatabase({
    url: engines.postgresUrl,
    connectionsMax: 1,
    onIdleError: () => undefined,
  });
  await database.run(
    `insert into accounts (id, name, plan) values ('acc_01kb2m9x4c7q5t8w3y6z1v0n2p', 'bench', 'paid')`,
  );
  await database.run(
    `insert into sources (id, platform, capacity) values ('x:main', 'x', 1000), ('firehose:main', 'firehose', 1000)`,
  );
  await database.run(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_01kb2m9x4c7q5t8w3y6z1v' || lpad(n::text, 4, '0'), 'acc_01kb2m9x4c7q5t8w3y6z1v0n2p', 'rule', 'test', 'active' from generate_series(0, $1) as n`,
    [rules - 1],
  );
  await database.run(
    `insert into slots (id, platform, source_id, value, value_hash, state, upstream_rule_id)
     select platform || n, platform, platform || ':main', 'v' || n, decode(md5(n::text), 'hex'), 'registered', platform || n
     from generate_series(0, $1) as n, unnest(array['x', 'firehose']) as platform`,
    [rules - 1],
  );
  await database.run(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     select platform || n, 'rule_01kb2m9x4c7q5t8w3y6z1v' || lpad(n::text, 4, '0'), 'acc_01kb2m9x4c7q5t8w3y6z1v0n2p', platform, 1, now()
     from generate_series(0, $1) as n, unnest(array['x', 'firehose']) as platform`,
    [rules - 1],
  );
  const { id: installation } = await readInstallation(database);
  const slots = await database.many<{ id: string }>('select id from slots');
  const slotIds = slots.map(({ id }) => id);
  const holders = await createMatchStore(database).holdersOf({ slotIds, upstreamRules: [], searched: false });
  return { installation, holders };
}

const seeded = await seed();
for (const name of ['stories', 'plain']) await copyDatabase(engines, name);

const noKeys: typeof storyItemOf = () => ({ keys: [], atMs: 0 });
const engineProcesses = {
  postgres: engines.postgresPid,
  ...Object.fromEntries(engines.nats.nodes.map(({ pid }, n) => [`nats-${n}`, pid])),
};

async function open(name: string, findStoryItem?: typeof storyItemOf) {
  const options = { name, eventsPerMessage, replicas, findStoryItem, ...seeded };
  const path = stack.use(await openBarePath(engines, options));
  const run = (bodies: readonly string[]) =>
    measure({ client: process.pid, ...engineProcesses }, async () => {
      await path.run(bodies);
      return bodies.length;
    });
  return { run, analyse: path.analyse };
}

const paths = { with: await open('stories'), without: await open('plain', noKeys) };
const feed = createFeed({ startMs: Date.now() - 3_600_000, rules });
const nextBodies = () => feed.next(events).map((event) => JSON.stringify(event));

const first = nextBodies().slice(0, 2_000);
await paths.with.run(first);
await paths.without.run(first);
await paths.with.analyse();
await paths.without.analyse();

const totals = { with: [] as number[], without: [] as number[] };
for (let round = 1; round <= rounds; round++) {
  const bodies = nextBodies();
  // The first of a round has colder caches.
  const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
  for (const name of order) {
    const figures = await paths[name].run(bodies);
    totals[name].push(total(figures));
    say(`${round}. ${name}: ${describe(figures)}`);
  }
}

async function describeStories() {
  const url = Object.assign(new URL(engines.postgresUrl), { pathname: '/stories' }).href;
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  const [row] = await database.many<Record<string, string>>(
    `select (select count(*) from matches)::text as matches, (select count(*) from story_members)::text as members,
       (select count(*) from stories where merged_into is null)::text as stories, (select count(*) from story_keys)::text as keys,
       (select max(count) from (select count(*) from story_members group by story_id) as sizes)::text as largest,
       pg_size_pretty(sum(pg_total_relation_size(name::regclass))) as size
     from unnest(array['stories', 'story_keys', 'story_members']) as name`,
  );
  return Object.entries(row ?? {})
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

const ratios = totals.with.map((one, index) => one / (totals.without[index] ?? Number.NaN));
say(await describeStories());
say(`µs of processor time per event, median (least–most) of ${rounds} rounds of ${events}:`);
say(`  with stories     ${spread(totals.with)}`);
say(`  without stories  ${spread(totals.without)}`);
say(`  with / without   ${spread(ratios, 3)}`);
say(
  `stories_us_per_event=${(median(totals.with) - median(totals.without)).toFixed(1)} cpu_ratio=${median(ratios).toFixed(3)} ` +
    `last_rounds_ratio=${median(ratios.slice(-5)).toFixed(3)}`,
);
