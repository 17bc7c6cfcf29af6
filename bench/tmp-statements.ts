import { migrate } from '../apps/server/src/engines/migrate.ts';
import { openDatabase } from '../apps/server/src/engines/database.ts';
import { createMatchStore } from '../apps/server/src/matching/match-store.sql.ts';
import { startPostgres } from '@earshot/engines';
import { createFeed } from './stories/feed.ts';
import { mkdtemp, chmod, rm } from 'node:fs/promises';
await using stack = new AsyncDisposableStack();
const dir = await mkdtemp('/tmp/st-'); await chmod(dir, 0o711);
stack.defer(() => rm(dir, { recursive: true, force: true }));
const postgres = await startPostgres({ dir: dir + '/postgres' });
stack.defer(() => postgres.stop());
await migrate(postgres.urls.owner);
const database = stack.use(openDatabase({ url: postgres.urls.owner, connectionsMax: 1, onIdleError: () => undefined }));
await database.run(`insert into accounts (id, name, plan) values ('acc_01kb2m9x4c7q5t8w3y6z1v0n2p', 'bench', 'paid')`);
const times = new Map<string, { n: number; ms: number }>();
let counting = false;
const wrapped: any = { ...database, transaction: (work: any) => database.transaction((sql) => {
  const timed = (name: 'prepared' | 'run' | 'many') => async (text: string, values: any) => {
    const t = performance.now();
    const r = await (sql as any)[name](text, values);
    if (counting) { const key = text.trim().slice(0, 60).replaceAll('\n', ' '); const one = times.get(key) ?? { n: 0, ms: 0 }; one.n++; one.ms += performance.now() - t; times.set(key, one); }
    return r;
  };
  return work({ ...sql, prepared: timed('prepared'), run: timed('run'), many: timed('many') });
}) };
const store = createMatchStore(wrapped);
const days = [-1, 0, 1].map((ahead) => new Date(Date.now() + ahead * 24 * 3_600_000).toISOString().slice(0, 10));
await store.makeDays(days);
const feed = createFeed({ startMs: Date.now() - 3_600_000, rules: 20 });
const size = 128;
let events = 0;
for (let b = 0; b < 300; b++) {
  const posts = feed.next(size);
  const matches = posts.map((e, n) => ({ accountId: 'acc_01kb2m9x4c7q5t8w3y6z1v0n2p', ruleId: 'rule_01kb2m9x4c7q5t8w3y6z1v' + String(n % 20).padStart(4, '0'), ruleVersion: 1, platform: e.platform, eventKey: e.key, eventDay: e.day, via: 'stream' as const, cost: { part: 1000000, users: 0, posts: 0 } }));
  if (b === 20) await database.run('analyze');
  counting = b > 100; if (counting) events += size;
  await store.write(posts, matches, [], []);
}
for (const [k, { n, ms }] of [...times].sort((a, b) => b[1].ms - a[1].ms)) console.log((ms * 1000 / events).toFixed(1), 'us/event', n, k);
const q = await database.many<any>(`select relname, pg_relation_size(oid) as s from pg_class where relname like 'stor%' order by 2 desc`); console.log(q.map((r) => `${r.relname} ${r.s}`).join('\n'));
