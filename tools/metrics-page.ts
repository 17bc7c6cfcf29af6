import { createMetrics } from '../apps/server/src/observability/metrics.ts';

/** Renders docs/operations/metrics.md from the registry that the server exports. */
export async function renderMetricsPage(): Promise<string> {
  const { registry } = createMetrics();
  const own = (await registry.getMetricsAsJSON()).filter(({ name }) => name.startsWith('earshot_'));
  const rows = own.map(({ name, type, help }) => {
    const labels = labelsOf(registry.getSingleMetric(name)).map((label) => `\`${label}\``);
    return `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`;
  });
  return [
    '# Metrics',
    '',
    'Every node exports these, and those of Node.js (`nodejs_…`, `process_…`): [monitoring](monitoring.md).',
    '',
    '| Metric | Kind | Labels | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The library has these fields, but does not declare them. */
function labelsOf(metric: unknown): string[] {
  const isObject = typeof metric === 'object' && metric !== null;
  return isObject && 'labelNames' in metric && Array.isArray(metric.labelNames)
    ? metric.labelNames.map(String)
    : [];
}
