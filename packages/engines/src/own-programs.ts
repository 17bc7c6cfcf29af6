import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compileCache } from './compile-cache.ts';
import { type Program, startProgram } from './program.ts';

const script = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const serverScript = script('apps/server/src/main.ts');

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

/**
 * Loads the server once, so that the compile cache has it: a program writes there when it ends, and one that is killed does
 * not. It ends at once, because it has no configuration.
 */
export async function loadServerProgram(): Promise<void> {
  const env = compileCache();
  await new Promise<void>((resolve) => {
    execFile(process.execPath, [serverScript], { env }, () => resolve());
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
  script = serverScript,
  timeoutMs,
}: {
  env: Readonly<Record<string, string>>;
  logFile: string;
  script?: string;
  /** Time until it is ready; one minute by default. */
  timeoutMs?: number;
}): Promise<Program<ServerReady>> {
  return startProgram({
    name: 'the server',
    script,
    env: { EARSHOT_PORT: '0', EARSHOT_METRICS_PORT: '0', ...env },
    logFile,
    ...(timeoutMs !== undefined && { timeoutMs }),
    readReady: (line): ServerReady | undefined =>
      line.includes('earshot is up') ? JSON.parse(line) : undefined,
  });
}
