import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/**
 * `pnpm test:model [--histories N] [--seed S] [--only I]`: the model-based test of registration, by default with 200
 * histories. A failure prints its seed and history; `--only` repeats that history alone.
 */
const { values } = parseArgs({
  options: { histories: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const { status } = spawnSync('vitest', ['run', '--project', 'int', 'apps/server/test/model'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    MODEL_HISTORIES: values.histories ?? '200',
    MODEL_SEED: values.seed ?? String(Date.now() % 1_000_000_000),
    ...(values.only !== undefined && { MODEL_ONLY: values.only }),
  },
});
process.exitCode = status ?? 1;
