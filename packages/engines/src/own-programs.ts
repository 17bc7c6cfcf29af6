import { fileURLToPath } from 'node:url';
import { type Program, startProgram } from './program.ts';

const script = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Starts the sandbox in place of X and Firehose. */
export function startSandboxProgram(options: {
  args: readonly string[];
  logFile: string;
}): Promise<Program<string>> {
  return startProgram({
    name: 'the sandbox',
    script: script('packages/sandbox/src/main.ts'),
    env: {},
    readReady: (line) => (line.startsWith('{"url"') ? String(JSON.parse(line).url) : undefined),
    ...options,
  });
}

export interface ServerReady {
  readonly address: string;
  readonly metricsPort: number;
}

/** Starts the server on free ports; `env` is its configuration. */
export function startServerProgram({
  env,
  logFile,
}: {
  env: Readonly<Record<string, string>>;
  logFile: string;
}): Promise<Program<ServerReady>> {
  return startProgram({
    name: 'the server',
    script: script('apps/server/src/main.ts'),
    env: { EARSHOT_PORT: '0', EARSHOT_METRICS_PORT: '0', ...env },
    logFile,
    readReady: (line): ServerReady | undefined =>
      line.includes('earshot is up') ? JSON.parse(line) : undefined,
  });
}
