import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { on } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type Program, type ServerReady, startServerProgram } from '@earshot/engines';
import { openAdmin } from '@earshot/server/admin';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { openDatabase } from '../apps/server/src/engines/database.ts';
import { createMatchStore } from '../apps/server/src/matching/match-store.sql.ts';
import { createSecretBox, newSecret } from '../apps/server/src/webhooks/secrets.ts';
import { describePace } from './machine-pace.ts';
import { memoryMiB } from './memory.ts';
import { measure, median, spread } from './pipeline/figures.ts';
import { percentile } from './pipeline/latency.ts';
import { root, startEngines } from './start-engines.ts';
import { postOf } from './stored.ts';
import type { EndpointsReport } from './webhooks/endpoints.ts';

/**
 * Measures webhooks: one node with the role deliver sends to many endpoints, each gets one rule. It alternates
 * with a bare sender, which signs and posts as many messages of the same size from memory. Processor time is that of the node and of
 * its PostgreSQL connections, per message and per match; it excludes the endpoints and the storing of matches.
 */
const { values: given } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '1000' },
    /** Matches a second, over all endpoints. */
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
    rounds: { type: 'string', default: '5' },
    profile: { type: 'string' },
  },
});
const [endpoints, rate, seconds] = [Number(given.endpoints), Number(given.rate), Number(given.seconds)];
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say(`Starting PostgreSQL, NATS, a node that delivers, and ${endpoints} endpoints`);
const engines = await startEngines(stack, 1);
const inbox = await startEndpoints();
const secretsKey = randomBytes(32);
const server: Program<ServerReady> = stack.use(
  await startServerProgram({
    env: {
      EARSHOT_DATABASE_URL: engines.postgresUrl,
      EARSHOT_NATS_URL: engines.nats.url,
      EARSHOT_ROLES: 'deliver',
      EARSHOT_SECRETS_KEY: secretsKey.toString('base64'),
      EARSHOT_TEST: 'allowInsecureWebhooks=true',
      ...(given.profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
    },
    logFile: join(engines.dir, 'server.log'),
  }),
);
const pool = new pg.Pool({ connectionString: engines.postgresUrl, max: 2 });
stack.defer(() => pool.end());
const accountId = await createAccount();
const database = stack.use(
  openDatabase({ url: engines.postgresUrl, connectionsMax: 1, onIdleError: () => undefined }),
);
const store = createMatchStore(database);
const writer = await database.one<{ pid: number }>('select pg_backend_pid() as pid', []);
const nats = await connect({ servers: engines.nats.url });
stack.defer(() => nats.close());
const day = new Date().toISOString().slice(0, 10);

interface Round {
  readonly message: number;
  readonly match: number;
  readonly node: number;
  readonly postgres: number;
  readonly bare: number;
  readonly commits: number;
}

let written = 0;
let writes = 0;
await write(rate, 2);
await delivered(written);
await pool.query('analyze');
inbox.latencies();
const rounds: Round[] = [];
for (let round = 1; round <= Number(given.rounds); round++) {
  const one = await measureOurs();
  const bare = await measureBare(one);
  rounds.push({ ...one, bare });
  const { p50, p99 } = one;
  say(
    `${round}. ${one.matches} matches in ${one.messages} messages: ${one.message.toFixed(0)} µs a message ` +
      `(node ${one.node.toFixed(0)}, PostgreSQL ${one.postgres.toFixed(0)}), ${one.match.toFixed(0)} a match, ` +
      `${one.commits.toFixed(2)} commits a message; written to received p50 ${p50} ms, p99 ${p99} ms; ` +
      `bare ${bare.toFixed(0)} µs a message; ${await memoryMiB(server.pid)} MiB; ${describePace()}`,
  );
}
const of = (name: keyof Round) => rounds.map((round) => round[name]);
say(`µs of processor time, median (least–most) of ${rounds.length} rounds:`);
say(`  ours, a message              ${spread(of('message'))}`);
say(`  ours, a match                ${spread(of('match'))}`);
say(`  sign and post from memory    ${spread(of('bare'))}`);
const ratio = median(rounds.map(({ message, bare }) => message / bare));
say(
  `webhook_us_per_message=${median(of('message')).toFixed(0)} webhook_us_per_match=${median(of('match')).toFixed(0)} ` +
    `bare_us_per_message=${median(of('bare')).toFixed(0)} commits_per_message=${median(of('commits')).toFixed(2)} ratio=${ratio.toFixed(2)}`,
);

async function startEndpoints() {
  const worker = new Worker(join(root, 'bench/webhooks/endpoints.ts'), { workerData: { endpoints } });
  stack.defer(async () => void (await worker.terminate()));
  const ready = Promise.withResolvers<number[]>();
  worker.once('error', (error) => ready.reject(error));
  let messages = 0;
  let matches = 0;
  let latencies: number[] = [];
  worker.on('message', (report: EndpointsReport | { ports: number[] }) => {
    if ('ports' in report) {
      ready.resolve(report.ports);
      return;
    }
    messages += report.messages;
    matches += report.latencies.length;
    latencies.push(...report.latencies);
  });
  const ports = await ready.promise;
  return {
    ports,
    messages: () => messages,
    matches: () => matches,
    latencies() {
      const sorted = latencies.toSorted((a, b) => a - b);
      latencies = [];
      return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
    },
  };
}

async function createAccount(): Promise<string> {
  await using admin = await openAdmin(engines.postgresUrl);
  const account = await admin.createAccount({ name: 'bench' });
  await pool.query(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_' || n, $1, 'rule', 'to measure', 'active' from generate_series(0, $2::integer - 1) as n`,
    [account.accountId, endpoints],
  );
  const box = createSecretBox(secretsKey);
  for (const [n, port] of inbox.ports.entries()) {
    const id = `whk_${n}`;
    await pool.query(
      `insert into webhooks (id, account_id, name, url, state, batch_max, next_attempt_at, secret, rule_ids, position)
       values ($1, $2, $1, $3, 'active', 100, now(), $4, $5, (select last_position from match_log))`,
      [id, account.accountId, `http://127.0.0.1:${port}/`, box.seal(id, newSecret()), [`rule_${n}`]],
    );
  }
  return account.accountId;
}

/** Stores matches as match workers do, ten batches a second. */
async function write(perSecond: number, forSeconds: number): Promise<number> {
  const startedAt = performance.now();
  const before = written;
  while (performance.now() - startedAt < forSeconds * 1_000) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond) - (written - before);
    const posts = Array.from({ length: due }, (_, n) => {
      const post = postOf(`bench-${written + n}`, day);
      return { ...post, payload: { ...post.payload, text: `at ${Date.now()} ${post.payload.text}` } };
    });
    const matches = posts.map(({ key, platform }, n) => ({
      accountId,
      ruleId: `rule_${(written + n) % endpoints}`,
      ruleVersion: 1,
      platform,
      eventKey: key,
      eventDay: day,
      via: 'stream' as const,
      itemAt: null,
      cost: { part: 0, users: 0, posts: 0 },
    }));
    if (due > 0) {
      await store.write(posts, matches, [], []);
      writes += 1;
    }
    if (due > 0) nats.publish('earshot.bell.matches');
    written += due;
    await sleep(100);
  }
  return written - before;
}

async function delivered(count: number): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (inbox.matches() < count) {
    if (performance.now() > deadline)
      throw new Error(`${inbox.matches()} of ${count} matches were delivered`);
    await sleep(50);
  }
}

async function measureOurs() {
  const [before, messagesBefore, commitsBefore] = [inbox.matches(), inbox.messages(), await commits()];
  const { rows } = await pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name = 'earshot' and pid <> $1",
    [writer?.pid],
  );
  const backends = Object.fromEntries(rows.map(({ pid }) => [`postgres-${pid}`, pid]));
  const { cpu } = await measure({ server: server.pid, ...backends }, async () => {
    const count = await write(rate, seconds);
    await delivered(before + count);
    return inbox.messages() - messagesBefore;
  });
  const messages = inbox.messages() - messagesBefore;
  const matches = inbox.matches() - before;
  const [node = Number.NaN, postgres = Number.NaN] = [cpu['server'], cpu['postgres']];
  const message = node + postgres;
  return {
    messages,
    matches,
    node,
    postgres,
    message,
    match: (message * messages) / matches,
    commits: ((await commits()) - commitsBefore) / messages,
    ...inbox.latencies(),
  };
}

/** Commits, without those that store matches. */
async function commits(): Promise<number> {
  const { rows } = await pool.query<{ commits: string }>(
    'select sum(xact_commit) as commits from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.commits) - writes;
}

async function measureBare({ messages, matches }: { messages: number; matches: number }): Promise<number> {
  const program = spawn(process.execPath, [join(root, 'bench/webhooks/bare-sender.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = on(createInterface(program.stdout), 'line');
  const bytes = Math.round((1_400 * matches) / messages);
  const order = { ports: inbox.ports, bytes, perSecond: messages / seconds, seconds };
  const { cpu } = await measure({ bare: program.pid ?? Number.NaN }, async () => {
    program.stdin.write(`${JSON.stringify(order)}\n`);
    return Number((await lines.next()).value?.[0]);
  });
  inbox.latencies();
  return cpu['bare'] ?? Number.NaN;
}
