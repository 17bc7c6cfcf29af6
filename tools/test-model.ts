import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/** `pnpm test:model [--histories N] [--seed S]`: the model-based test of registration, 200 histories unless told. */
const { values } = parseArgs({ options: { histories: { type: 'string' }, seed: { type: 'string' } } });
const { status } = spawnSync('vitest', ['run', '--project', 'int', 'apps/server/test/model'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    MODEL_HISTORIES: values.histories ?? '200',
    ...(values.seed !== undefined && { MODEL_SEED: values.seed }),
  },
});
process.exitCode = status ?? 1;
