import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOnLoopback } from '@earshot/testkit';
import { Client } from 'pg';
import { startPrometheus } from '../src/prometheus.ts';
import type { FiredFault } from './faults.ts';
import type { Feed } from './feed.ts';
import { type AlertSpan, isTrue, type Observation, spansOf } from './pages.ts';
import type { SoakSystem } from './system.ts';

/** As Prometheus evaluates, in deploy/prometheus.yaml. */
const stepSeconds = 10;
/** The promised times, as in MatchesLate and WebhooksLate. */
const matchLateMs = 2_000;
const webhookLateMs = 5_000;

interface Happened {
  readonly faults: readonly FiredFault[];
  readonly feed: Pick<Feed, 'sent'>;
}

export interface Watch {
  /** Prints every alert that was pending or firing, and returns the false critical alerts. */
  judge(happened: Happened, say: (line: string) => void): Promise<AlertSpan[]>;
}

interface WatchOptions {
  readonly system: SoakSystem;
  readonly ruleId: string;
  readonly alertsFile: string | undefined;
}

/** Prometheus with our alerts unless others are given, and what they need besides matches: a webhook and a caller. */
export async function startWatch(
  stack: AsyncDisposableStack,
  { system, ruleId, alertsFile }: WatchOptions,
): Promise<Watch> {
  const receiver = stack.use(await startReceiver());
  const webhook = { name: 'watched', url: receiver.url, rule_ids: [ruleId] };
  const { status, text } = await system.api().call('POST', '/api.CreateWebhook', webhook);
  if (status !== 200) throw new Error(`no webhook: ${text}`);
  const caller = stack.use(startCaller(system));
  const watchedFromMs = Date.now();
  const nodes = system.servers.map((node) => node.metricsUrl);
  const prometheus = stack.use(await startPrometheus(nodes, alertsFile));
  return {
    async judge({ faults, feed }, say) {
      await prometheus.evaluated();
      const toMs = Date.now();
      const steps = Math.ceil((toMs - watchedFromMs) / 1_000 / stepSeconds);
      const range = { fromMs: toMs - steps * stepSeconds * 1_000, toMs, stepSeconds };
      const spans = spansOf(await prometheus.queryRange('ALERTS', range), stepSeconds);
      const matches = await lateMatches(system.databaseUrl, feed);
      const observed = { matches, webhooks: receiver.observations, requests: caller.observations };
      const evidence = { rules: await prometheus.alertRules(), faults, observed };
      const critical = spans.filter(({ state, severity }) => state === 'firing' && severity === 'page');
      const falseAlerts = critical.filter((alert) => !isTrue(alert, evidence));
      for (const span of spans) {
        const truth = falseAlerts.includes(span) ? ': FALSE' : critical.includes(span) ? ': true' : '';
        say(`${describe(span, watchedFromMs)}${truth}`);
      }
      for (const [kind, all] of Object.entries(observed))
        say(`${kind}: ${all.length} seen, ${all.filter(({ isBad }) => isBad).length} of them late or failed`);
      const seen = await prometheus.query(
        'count(count_over_time(earshot_matched_through_timestamp_seconds[1d]))',
      );
      if (Number(seen[0]?.value[1]) !== nodes.length) throw new Error('Prometheus has not seen all nodes');
      const failing = await prometheus.query(
        'sum by (worker) (increase(earshot_worker_failures_total[1d])) > 0',
      );
      for (const { metric, value } of failing)
        say(`worker ${metric['worker']} failed about ${Number(value[1]).toFixed(0)} times`);
      say(`alerts: ${critical.length} critical, ${falseAlerts.length} of them false`);
      return falseAlerts;
    },
  };
}

function describe({ name, severity, state, labels, fromMs, toMs }: AlertSpan, watchedFromMs: number): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(0)} s`;
  const which = Object.entries(labels).map(([label, value]) => ` ${label}=${value}`);
  return `${severity} ${name}${which.join('')} ${state} after ${seconds(fromMs - watchedFromMs)} for ${seconds(toMs - fromMs)}`;
}

/** The delay of streamed matches since they were sent. A match after a reconnect, or to a frozen node, counts as late too. */
async function lateMatches(databaseUrl: string, feed: Pick<Feed, 'sent'>): Promise<Observation[]> {
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ id: string; stored: number }>(
      `select platform_post_id as id, extract(epoch from created_at)::float8 * 1000 as stored
       from matches join posts using (event_key, platform, event_day)
       where via = 'stream'`,
    );
    const sentAt = new Map(Object.values(feed.sent).flatMap((sent) => [...sent]));
    return rows.map(({ id, stored }) => ({
      atMs: stored,
      isBad: stored - (sentAt.get(id)?.sentBefore ?? stored) > matchLateMs,
    }));
  } finally {
    await database.end();
  }
}

/** A webhook receiver that records the delay between the storing of each match and its arrival. */
async function startReceiver() {
  const observations: Observation[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const { matches } = (await json(request)) as { matches?: ReadonlyArray<{ created_at: string }> };
    const atMs = Date.now();
    for (const match of matches ?? [])
      observations.push({ atMs, isBad: atMs - Date.parse(match.created_at) > webhookLateMs });
    response.end();
  };
  const server = createServer((request, response) => {
    // A server that is killed while it sends aborts its request.
    take(request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    observations,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Lists matches twice a second, from any server that is up. */
function startCaller(system: SoakSystem) {
  const observations: Observation[] = [];
  const stopping = new AbortController();
  const call = async () => {
    const { status } = await system.api().call('POST', '/matches', { limit: 1 });
    observations.push({ atMs: Date.now(), isBad: status >= 500 });
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      // A killed server has not answered at all; a frozen one answers later.
      await Promise.race([call().catch(() => undefined), sleep(5_000)]);
      await sleep(500);
    }
  })();
  return {
    observations,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
