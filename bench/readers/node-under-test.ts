import { join } from 'node:path';
import { startServerProgram } from '@earshot/engines';
import { openAdmin } from '@earshot/server/admin';
import pg from 'pg';
import type { Engines } from '../start-engines.ts';

export interface NodeUnderTest {
  readonly url: string;
  readonly pid: number;
  readonly key: string;
  /** The value of a metric of the node, by its name and labels. */
  readonly metric: (name: string) => Promise<number>;
  /** The processes of PostgreSQL that serve it. */
  readonly backends: () => Promise<number[]>;
}

/** Starts one node with only the api role, and creates one account with a rule per stream. */
export async function startNodeUnderTest(
  engines: Engines,
  stack: AsyncDisposableStack,
  { rules, profile }: { rules: number; profile?: string | undefined },
): Promise<NodeUnderTest> {
  const server = stack.use(
    await startServerProgram({
      env: {
        EARSHOT_DATABASE_URL: engines.postgresUrl,
        EARSHOT_NATS_URL: engines.nats.url,
        EARSHOT_ROLES: 'api',
        EARSHOT_LOG_LEVEL: 'info',
        EARSHOT_TEST: 'requestsInFlightMax=100000,streamsPerKeyMax=100000',
        ...(profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }),
      },
      logFile: join(engines.dir, 'server.log'),
    }),
  );
  await using admin = await openAdmin(engines.postgresUrl);
  await admin.setPlanLimits('paid', { requests: 10_000_000 });
  const { accountId } = await admin.createAccount({ name: 'bench' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  await using database = await connected(engines.postgresUrl);
  await database.client.query(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_' || n, $1, 'rule', 'to measure', 'active' from generate_series(0, $2::integer) as n`,
    [accountId, rules],
  );
  await database.client.query('analyze rules');
  const { address, metricsPort } = server.ready;
  const metric = async (name: string) => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    const line = (await answer.text()).split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length));
  };
  const backends = async () => {
    await using asking = await connected(engines.postgresUrl);
    const { rows } = await asking.client.query<{ pid: number }>(
      "select pid from pg_stat_activity where application_name = 'earshot'",
    );
    return rows.map(({ pid }) => pid);
  };
  return { url: address, pid: server.pid, key: created.key, metric, backends };
}

async function connected(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}
