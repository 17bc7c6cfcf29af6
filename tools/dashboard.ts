import { LegendPlacement, VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** Description of panels whose series exist only if there are problems. */
const emptyWithoutProblems = 'Empty without problems.';

interface Panel {
  readonly title: string;
  readonly unit: string;
  /** Legend and expression. */
  readonly series: Readonly<Record<string, string>>;
  readonly about?: string;
}

const rate = (counter: string) => `rate(earshot_${counter}[$__rate_interval])`;
const quantile = (q: number, histogram: string, by = 'le') =>
  `histogram_quantile(${q}, sum by (${by}) (${rate(`${histogram}_bucket`)}))`;
/** The median and the 99th percentile of a histogram. */
const quantiles = (histogram: string) => ({
  p50: quantile(0.5, histogram),
  p99: quantile(0.99, histogram),
});

/** The state at a glance: one number each, above the panels. */
const tiles: Readonly<Record<string, readonly [unit: string, expression: string]>> = {
  'Firing alerts': ['short', 'count(ALERTS{alertstate="firing"}) or vector(0)'],
  Nodes: ['short', 'count(earshot_build_info)'],
  'Sources that receive': ['short', 'sum(max by (source) (earshot_source_state{state="live"}))'],
  'Oldest unmatched event': ['s', 'time() - max(earshot_matched_through_timestamp_seconds)'],
  'Oldest unattempted delivery': ['s', 'time() - max(earshot_webhooks_tried_through_timestamp_seconds)'],
  'Event log in use': ['percentunit', 'max(earshot_event_log_bytes) / max(earshot_event_log_bytes_max)'],
};

const rows: Readonly<Record<string, readonly Panel[]>> = {
  Health: [
    {
      title: 'Alerts',
      unit: 'short',
      series: { '{{alertname}} {{source}}': 'ALERTS{alertstate="firing"}' },
      about: emptyWithoutProblems,
    },
    {
      title: 'Time since a source last received',
      unit: 's',
      series: { '{{source}}': 'time() - max by (source) (earshot_source_last_received_timestamp_seconds)' },
      about: 'Up to 40 s on X, which sends a keep-alive every 20 s.',
    },
    {
      title: 'Age of the oldest unmatched event and unattempted webhook delivery',
      unit: 's',
      series: {
        matched: 'time() - max(earshot_matched_through_timestamp_seconds)',
        tried: 'time() - max(earshot_webhooks_tried_through_timestamp_seconds)',
      },
    },
    {
      title: 'Nodes by version',
      unit: 'short',
      series: { '{{version}}, {{schema}}': 'count by (version, schema) (earshot_build_info)' },
    },
  ],
  'Service level objectives': [
    {
      title: 'Receipt to list',
      unit: 's',
      series: quantiles('event_stored_seconds'),
      about: 'SLO: 50% within 0.25 s, 99% within 2 s.',
    },
    {
      title: 'Match stored to first webhook attempt',
      unit: 's',
      series: quantiles('webhook_wait_seconds'),
      about: 'SLO: 99% within 5 s.',
    },
    {
      title: 'Late share',
      unit: 'percentunit',
      series: { matches: 'earshot:matches_late:ratio_1h', webhooks: 'earshot:webhooks_late:ratio_1h' },
      about: 'Over an hour. The alerts fire at 14.4%. The SLO is 1%.',
    },
    {
      title: 'Time per step (99th percentile)',
      unit: 's',
      series: {
        'receipt to log': quantile(0.99, 'event_logged_seconds'),
        'storing a batch': quantile(0.99, 'match_batch_seconds'),
        'stored to followers': quantile(0.99, 'match_followed_seconds'),
      },
    },
  ],
  Sources: [
    {
      title: 'State',
      unit: 'short',
      series: { '{{source}} {{state}}': 'max by (source, state) (earshot_source_state)' },
    },
    {
      title: 'Events logged',
      unit: 'ops',
      series: { '{{platform}}': `sum by (platform) (${rate('events_logged_total')})` },
    },
    {
      title: 'Items dropped',
      unit: 'ops',
      series: { '{{platform}} {{reason}}': `sum by (platform, reason) (${rate('items_dropped_total')})` },
    },
    {
      title: 'Stream endings',
      unit: 'ops',
      series: { '{{platform}} {{kind}}': `sum by (platform, kind) (${rate('stream_endings_total')})` },
      about: emptyWithoutProblems,
    },
  ],
  'Event log and matches': [
    { title: 'Waiting messages', unit: 'short', series: { waiting: 'max(earshot_event_log_waiting)' } },
    {
      title: 'Event log usage',
      unit: 'percentunit',
      series: { used: 'max(earshot_event_log_bytes) / max(earshot_event_log_bytes_max)' },
    },
    {
      title: 'Matches stored',
      unit: 'ops',
      series: { '{{platform}}': `sum by (platform) (${rate('matches_stored_total')})` },
    },
    {
      title: 'Gaps, dead letters, copies behind',
      unit: 'short',
      series: {
        'gap {{fate}}': 'sum by (fate) (increase(earshot_event_log_gaps_total[$__rate_interval]))',
        'dead letters': 'sum(increase(earshot_dead_letters_total[$__rate_interval]))',
        'copies behind': 'max(earshot_event_log_copies_behind)',
        'appends refused (seconds)': 'max(earshot_event_log_append_blocked_seconds)',
      },
    },
  ],
  Webhooks: [
    { title: 'Webhooks', unit: 'short', series: { '{{state}}': 'max by (state) (earshot_webhooks)' } },
    {
      title: 'Attempts',
      unit: 'ops',
      series: { '{{outcome}}': `sum by (outcome) (${rate('webhook_attempts_total')})` },
    },
    { title: 'Attempt duration', unit: 's', series: quantiles('webhook_attempt_seconds') },
    {
      title: 'Longest failing endpoint',
      unit: 's',
      series: { failing: 'time() - max(earshot_webhooks_failing_since_timestamp_seconds)' },
    },
  ],
  API: [
    {
      title: 'Requests',
      unit: 'reqps',
      series: { '{{operation}}': `sum by (operation) (${rate('http_requests_total')})` },
    },
    {
      title: 'Requests that failed with a server error',
      unit: 'reqps',
      series: {
        '{{operation}} {{status}}': `sum by (operation, status) (${rate('http_requests_total{status=~"5.."}')})`,
      },
      about: emptyWithoutProblems,
    },
    {
      title: 'Request duration (99th percentile)',
      unit: 's',
      series: { '{{operation}}': quantile(0.99, 'http_request_seconds', 'le, operation') },
    },
    {
      title: 'Open match streams',
      unit: 'short',
      series: { '{{instance}}': 'earshot_match_streams' },
    },
  ],
  'PostgreSQL, NATS and nodes': [
    {
      title: 'Database connections',
      unit: 'short',
      series: { '{{pool}} {{state}}': 'sum by (pool, state) (earshot_database_pool)' },
    },
    {
      title: 'Database (99th percentile)',
      unit: 's',
      series: {
        statement: quantile(0.99, 'database_statement_seconds'),
        'wait for a connection': quantile(0.99, 'database_connection_wait_seconds'),
      },
    },
    {
      title: 'Connections to PostgreSQL and NATS',
      unit: 'short',
      series: {
        'PostgreSQL {{instance}}': 'earshot_database_connected',
        'NATS {{instance}}': 'earshot_nats_connected',
        'NATS lost {{instance}}': 'increase(earshot_nats_disconnects_total[$__rate_interval])',
      },
    },
    {
      title: 'Worker failures',
      unit: 'ops',
      series: { '{{worker}}': `sum by (worker) (${rate('worker_failures_total')})` },
      about: emptyWithoutProblems,
    },
    {
      title: 'CPU',
      unit: 'percentunit',
      series: { '{{instance}}': 'rate(process_cpu_seconds_total{job="earshot"}[$__rate_interval])' },
    },
    {
      title: 'Memory',
      unit: 'bytes',
      series: { '{{instance}}': 'process_resident_memory_bytes{job="earshot"}' },
    },
    {
      title: 'Event loop lag (99th percentile; 50 ms without delay)',
      unit: 's',
      series: { '{{instance}}': 'nodejs_eventloop_lag_p99_seconds{job="earshot"}' },
    },
    {
      title: 'Total bill',
      unit: 'currencyUSD',
      series: { '{{source}} {{reading}}': 'max by (source, reading) (earshot_cost_usd_total)' },
    },
  ],
};

/** deploy/grafana/earshot.json. */
export function renderDashboard(): string {
  const dashboard = new DashboardBuilder('Earshot')
    .uid('earshot')
    .tags(['earshot'])
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  for (const [title, [unit, expression]] of Object.entries(tiles))
    dashboard.withPanel(
      new StatBuilder()
        .title(title)
        .unit(unit)
        .span(4)
        .height(4)
        .datasource(datasource)
        .withTarget(query(0, expression)),
    );
  for (const [title, panels] of Object.entries(rows)) {
    dashboard.withRow(new RowBuilder(title));
    for (const panel of panels) dashboard.withPanel(panelOf(panel));
  }
  return `${JSON.stringify(dashboard.build(), null, 2)}\n`;
}

function panelOf({ title, unit, series, about }: Panel): PanelBuilder {
  const panel = new PanelBuilder()
    .title(title)
    .unit(unit)
    .min(0)
    .span(6)
    .height(7)
    .legend(new VizLegendOptionsBuilder().showLegend(true).placement(LegendPlacement.Bottom))
    .datasource(datasource);
  if (about !== undefined) panel.description(about);
  for (const [index, [legend, expression]] of Object.entries(series).entries())
    panel.withTarget(query(index, expression).legendFormat(legend));
  return panel;
}

const datasource = { type: 'prometheus', uid: '${datasource}' };

function query(index: number, expression: string): DataqueryBuilder {
  return new DataqueryBuilder().refId(`Q${index + 1}`).expr(expression);
}
