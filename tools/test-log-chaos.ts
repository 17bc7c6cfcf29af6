import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/** `pnpm test:log-chaos [--acknowledged N]`: the chaos test of the event log, by default with 500,000 acknowledged events. */
const { values } = parseArgs({ options: { acknowledged: { type: 'string' } } });
const { status } = spawnSync('vitest', ['run', '--project', 'int', 'apps/server/test/log-chaos.fault'], {
  stdio: 'inherit',
  env: { ...process.env, LOG_CHAOS_ACKNOWLEDGED: values.acknowledged ?? '500000' },
});
process.exitCode = status ?? 1;
