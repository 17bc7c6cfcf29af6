import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServerProgram } from '@earshot/engines';
import { migrate, openAdmin } from '@earshot/server/admin';
import pg from 'pg';
import { openDatabase } from '../../apps/server/src/engines/database.ts';
import { createMatchStore } from '../../apps/server/src/matching/match-store.sql.ts';
import { xMatch } from '../../apps/server/test/stream-events.ts';
import { createCaller } from '../caller.ts';
import { measure } from '../pipeline/figures.ts';
import { startEngines } from '../start-engines.ts';
import { postOf } from '../stored.ts';

/**
 * What more stored days cost: processor time of a list of 50 (of an account, of a rule), and of storing a match. Every day has as
 * many matches as the others, most of them of other accounts.
 */
const { values: given } = parseArgs({
  options: { days: { type: 'string', default: '1,10,30,90' }, matches: { type: 'string', default: '3000' } },
});
const perDay = Number(given.matches);
await using stack = new AsyncDisposableStack();
const engines = await startEngines(stack, 1);
await migrate(engines.postgresUrl);
const server = stack.use(
  await startServerProgram({
    env: {
      EARSHOT_DATABASE_URL: engines.postgresUrl,
      EARSHOT_NATS_URL: engines.nats.url,
      EARSHOT_ROLES: 'api',
      EARSHOT_RETENTION_DAYS: '120',
      EARSHOT_REQUESTS_PER_MINUTE: '10000000',
      EARSHOT_LOG_LEVEL: 'info',
    },
    logFile: join(engines.dir, 'server.log'),
  }),
);
await using admin = await openAdmin(engines.postgresUrl);
const { accountId } = await admin.createAccount({ name: 'bench' });
const key = (await admin.createKey({ accountId }))?.key ?? '';
const superuser = new pg.Pool({ connectionString: engines.superuserUrl, max: 1 });
stack.defer(() => superuser.end());
await superuser.query(
  `insert into rules (id, account_id, name, intent, state)
   select 'rule_' || n, $1, 'rule', 'to measure', 'active' from generate_series(0, 199) as n`,
  [accountId],
);
const database = stack.use(
  openDatabase({ url: engines.postgresUrl, connectionsMax: 2, onIdleError: () => undefined }),
);
const store = createMatchStore(database, { retentionDays: 120 });
let next = 0;

async function write(day: string, count: number): Promise<number> {
  for (let from = 0; from < count; from += 500) {
    const posts = Array.from({ length: Math.min(500, count - from) }, () => postOf(`d${next++}`, day));
    await store.write(
      posts,
      // One in ten is of the account that asks.
      posts.map((post, n) => xMatch(post, `rule_${n % 200}`, n % 10 === 0 ? accountId : `other_${n % 50}`)),
      [],
      [],
    );
  }
  return count;
}

const dayBack = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
using caller = createCaller(server.ready.address, 4);
async function list(count: number, body: object): Promise<number> {
  let asked = 0;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (asked++ < count) {
        const { status, text } = await caller.post(key, '/matches', JSON.stringify({ limit: 50, ...body }));
        if (status !== 200) throw new Error(text);
      }
    }),
  );
  return count;
}

const processes = { server: server.pid, postgres: engines.postgresPid };
let stored = 0;
for (const days of given.days.split(',').map(Number)) {
  const added = Array.from({ length: days - stored }, (_, n) => dayBack(days - 1 - n));
  await store.makeDays(added);
  for (const day of added) await write(day, perDay);
  stored = days;
  await superuser.query('vacuum analyze');
  await superuser.query('checkpoint');
  await list(100, {});
  const listed = await measure(processes, () => list(400, {}));
  const ofRule = await measure(processes, () => list(400, { rule_id: 'rule_10' }));
  const written = await measure({ postgres: engines.postgresPid }, () => write(dayBack(0), 5_000));
  const micros = (name: string, { cpu }: typeof listed) => Math.round(cpu[name] ?? 0);
  process.stdout.write(
    `${JSON.stringify({
      curve: 'days',
      days,
      list: { server: micros('server', listed), postgres: micros('postgres', listed) },
      listOfRule: { server: micros('server', ofRule), postgres: micros('postgres', ofRule) },
      store: micros('postgres', written),
    })}\n`,
  );
}
