import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program, ServerReady } from '@earshot/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { createSecretBox, newSecret } from '../../apps/server/src/webhooks/secrets.ts';
import { cpuSeconds } from '../cpu-share.ts';
import { memoryMiB } from '../memory.ts';
import { startSystem } from '../pipeline/system.ts';
import { type Engines, startEngines } from '../start-engines.ts';

/** The real server with all roles, its engines and the sandbox, whose rules, accounts and endpoints can be made more. */
export async function startWorld(stack: AsyncDisposableStack) {
  const engines = await startEngines(stack, 3);
  const secretsKey = randomBytes(32);
  const system = await startSystem(engines, stack, {
    rules: 20,
    replicas: 3,
    env: {
      EARSHOT_SECRETS_KEY: secretsKey.toString('base64'),
      EARSHOT_ALLOW_INSECURE_WEBHOOKS: 'true',
      EARSHOT_LOG_LEVEL: 'info',
    },
  });
  const processes = processesOf(engines, system.server.pid);
  const database = new pg.Pool({ connectionString: engines.superuserUrl, max: 1 });
  stack.defer(() => database.end());
  const nats = await connect({ servers: engines.nats.url });
  stack.defer(() => nats.close());
  const { streams } = await jetstreamManager(nats);
  const sink = await startSink(stack);
  const ask = async (sql: string) => {
    const { rows } = await database.query<{ value: string }>(`select (${sql}) as value`);
    return Number(rows[0]?.value);
  };
  const matches = () => ask('select coalesce(sum(matches), 0) from usage');
  return {
    engines,
    system,
    database,
    matches,
    async untilMatches(count: number): Promise<void> {
      while ((await matches()) < count) await sleep(100);
    },
    look: async () => ({
      atMs: performance.now(),
      cpu: await cpuSeconds(processes),
      io: await bytesOf(system.server.pid),
      databaseBytes: await ask('select pg_database_size(current_database())'),
      walBytes: await ask("select pg_current_wal_lsn() - '0/0'"),
      logBytes: (await streams.info('EVENTS')).state.bytes,
      messages: (await streams.info('EVENTS')).state.last_seq,
      transactions: await transactionsOf(system.server),
      matches: await matches(),
      ...sink.counts(),
    }),
    nodeMiB: () => memoryMiB(system.server.pid),
    /** Every event matches so many more rules from now on, which are spread over so many accounts. */
    addMatches: (more: number, accounts: number) => addHolders(database, more, accounts),
    /** Each gets the matches of one of the first rules. */
    addEndpoints: (count: number) => addEndpoints(database, { count, url: sink.url, secretsKey }),
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
export type Look = Awaited<ReturnType<World['look']>>;

function processesOf({ postgresPid, nats }: Engines, server: number): Record<string, number> {
  const nodes = nats.nodes.map(({ pid }, n) => [`nats-${n}`, pid]);
  return { server, postgres: postgresPid, ...Object.fromEntries(nodes) };
}

/** Batches that the match workers of a node have stored, each in a transaction. */
async function transactionsOf({ ready }: Program<ServerReady>): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${ready.metricsPort}/metrics`);
  return Number(/^earshot_match_batch_seconds_count(?:\{.*\})? (\d+)/m.exec(await answer.text())?.[1]);
}

/** What went through sockets and files of a Node.js process. */
async function bytesOf(pid: number): Promise<{ in: number; out: number }> {
  const text = await readFile(`/proc/${pid}/io`, 'utf8');
  return { in: Number(/rchar: (\d+)/.exec(text)?.[1]), out: Number(/wchar: (\d+)/.exec(text)?.[1]) };
}

/** An endpoint of webhooks that takes everything at once. */
async function startSink(stack: AsyncDisposableStack) {
  let [webhookMessages, webhookBytes] = [0, 0];
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      webhookBytes += chunk.length;
    });
    request.on('end', () => {
      webhookMessages++;
      response.writeHead(200).end();
    });
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    }),
  );
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    counts: () => ({ webhookMessages, webhookBytes }),
  };
}

async function addHolders(database: pg.Pool, more: number, accounts: number): Promise<void> {
  const prefix = randomBytes(4).toString('hex');
  await database.query(
    `insert into accounts (id, name, plan)
     select 'acct_${prefix}_' || n, 'bench', 'paid' from generate_series(0, $1::integer - 1) as n`,
    [accounts],
  );
  await database.query(
    `create temp table new_rules as
     select 'rule_${prefix}_' || row_number() over () as rule_id, slots.id as slot_id, platform, value,
       'acct_${prefix}_' || (row_number() over () - 1) % $2::integer as account_id
     from slots, generate_series(1, $1::integer)`,
    [more, accounts],
  );
  await database.query(
    `insert into rules (id, account_id, name, intent, state)
     select rule_id, account_id, 'rule', 'to measure', 'active' from new_rules`,
  );
  await database.query(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     select rule_id, 1, platform, value, value, slot_id from new_rules`,
  );
  await database.query(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     select slot_id, rule_id, account_id, platform, 1, now() from new_rules`,
  );
  await database.query('drop table new_rules');
  await database.query('analyze');
}

async function addEndpoints(
  database: pg.Pool,
  { count, url, secretsKey }: { count: number; url: string; secretsKey: Buffer },
): Promise<void> {
  const box = createSecretBox(secretsKey);
  const ids = Array.from({ length: count }, () => `whk_${randomBytes(8).toString('hex')}`);
  await database.query(
    `insert into webhooks (id, account_id, name, url, rule_id, secret, state, batch_max, next_attempt_at, position)
     select new.id, owned.account_id, new.id, $3, owned.id, new.secret, 'active', 100, now(), last_position
     from match_log, unnest($1::text[], $2::bytea[]) with ordinality as new (id, secret, n)
     join (select id, account_id, row_number() over (order by id) as n from rules where name like 'pipeline %') as owned
       on owned.n = 1 + new.n % 20`,
    [ids, ids.map((id) => box.seal(id, newSecret())), url],
  );
}
