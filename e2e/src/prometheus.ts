import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, spawnServer } from '@earshot/engines';
import { eventually, skipUnless } from '@earshot/testkit';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const program = '/usr/bin/prometheus';

/** Options for tests that need Prometheus. */
export const withPrometheus = () => skipUnless('prometheus', existsSync(program) ? null : `no ${program}`);

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface AlertRule {
  readonly name: string;
  readonly severity: string;
  /** Its `for`. */
  readonly forSeconds: number;
}

interface LoadedRule {
  readonly name: string;
  readonly duration: number;
  readonly labels: Readonly<Record<string, string>>;
}

interface RuleGroups {
  readonly groups: ReadonlyArray<{ lastEvaluation: string; rules: readonly LoadedRule[] }>;
}

interface Targets {
  readonly activeTargets: ReadonlyArray<{ lastScrape: string }>;
}

export interface RangeSeries {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since 1970, and the value. */
  readonly values: ReadonlyArray<readonly [number, string]>;
}

export interface Prometheus extends AsyncDisposable {
  /** The alerts of one state, by name. */
  alerts(state: Alert['state']): Promise<string[]>;
  alertRules(): Promise<AlertRule[]>;
  query(expression: string): Promise<Series[]>;
  /** Waits until Prometheus has scraped every node once more, and has evaluated the alerts with the result. */
  evaluated(): Promise<void>;
  queryRange(
    expression: string,
    range: { fromMs: number; toMs: number; stepSeconds: number },
  ): Promise<RangeSeries[]>;
}

/**
 * A real Prometheus (Debian's), with deploy/prometheus.yaml and deploy/alerts.yaml, unless other alerts are given; only the
 * addresses of the nodes differ.
 */
export async function startPrometheus(
  metricsUrls: readonly string[],
  alertsFile = join(deploy, 'alerts.yaml'),
): Promise<Prometheus> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-prometheus-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const targets = metricsUrls.map((url) => new URL(url).host);
  const deployed = await readFile(join(deploy, 'prometheus.yaml'), 'utf8');
  const config = deployed.replace('["earshot:9464"]', JSON.stringify(targets));
  if (config === deployed) throw new Error('deploy/prometheus.yaml has other targets than this expects');
  await writeFile(join(dir, 'prometheus.yaml'), config);
  await writeFile(join(dir, 'alerts.yaml'), await readFile(alertsFile));
  const [port] = await freePorts(1);
  const server = await spawnServer({
    command: program,
    args: [
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(dir, 'prometheus.log'),
    lifetime: 'parent',
  });
  stack.defer(() => server.stop('SIGTERM'));
  const get = async <Data>(path: string): Promise<Data> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data: Data };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  await eventually(() => get('status/buildinfo'), { timeoutMs: 300_000 }).catch(async (error: unknown) => {
    const log = await readFile(join(dir, 'prometheus.log'), 'utf8');
    throw new Error(`Prometheus did not start: ${log}`, { cause: error });
  });
  const running = stack.move();
  return {
    async alerts(state) {
      const { alerts } = await get<{ alerts: readonly Alert[] }>('alerts');
      const names = alerts.filter((alert) => alert.state === state).map(({ labels }) => labels['alertname']);
      return [...new Set(names.filter((name) => name !== undefined))].toSorted();
    },
    async alertRules() {
      const { groups } = await get<RuleGroups>('rules?type=alert');
      return groups.flatMap(({ rules }) =>
        rules.map(({ name, duration, labels }) => ({
          name,
          severity: labels['severity'] ?? '',
          forSeconds: duration,
        })),
      );
    },
    async evaluated() {
      const since = (ms: number) => (time: string) => Date.parse(time) > ms;
      const isScraped = since(Date.now());
      await eventually(
        async () => {
          const { activeTargets } = await get<Targets>('targets?state=active');
          return activeTargets.every(({ lastScrape }) => isScraped(lastScrape));
        },
        { timeoutMs: 60_000 },
      );
      const isEvaluated = since(Date.now());
      await eventually(
        async () => {
          const { groups } = await get<RuleGroups>('rules?type=alert');
          return groups.every(({ lastEvaluation }) => isEvaluated(lastEvaluation));
        },
        { timeoutMs: 60_000 },
      );
    },
    async queryRange(expression, { fromMs, toMs, stepSeconds }) {
      const range = `start=${fromMs / 1_000}&end=${toMs / 1_000}&step=${stepSeconds}`;
      const path = `query_range?query=${encodeURIComponent(expression)}&${range}`;
      const { result } = await get<{ result: RangeSeries[] }>(path);
      return result;
    },
    async query(expression) {
      const { result } = await get<{ result: Series[] }>(`query?query=${encodeURIComponent(expression)}`);
      return result;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
