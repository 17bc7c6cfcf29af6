import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  freePorts,
  type PostgresUrls,
  type Program,
  startSandboxProgram,
  startServerProgram,
} from '@earshot/engines';
import { defaultTapToken, defaultXToken } from '@earshot/sandbox';

const endWithinMs = 5_000;
/** An uncaught database error alone has 25 lines. */
const logLinesShown = 40;

/** A running program of the demo, and its address. */
export interface Running extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the program ends, with the message for an unexpected end. */
  readonly ended: Promise<string>;
}

export async function startDemoSandbox(options: { dir: string; feed: string }): Promise<Running> {
  const logFile = join(options.dir, 'sandbox.log');
  const program = await startSandboxProgram({
    // Without the delay of 2 s that X has, so that the first match arrives at once.
    args: ['--rule-delay-ms', '0', '--feed', options.feed, '--seed', String(Date.now() % 1_000_000)],
    logFile,
  });
  return running('The sandbox', program.ready, { program, logFile });
}

interface ServerOptions {
  readonly dir: string;
  /** At least one. */
  readonly ports: readonly number[];
  readonly postgres: PostgresUrls;
  readonly natsUrl: string;
  readonly sandboxUrl: string;
  readonly blueskyUrl: string | null;
}

export async function startDemoServer(options: ServerOptions): Promise<Running> {
  const [port = 0, ...others] = options.ports;
  try {
    return await startServerOn(port, options);
  } catch (error) {
    const isTaken = error instanceof Error && error.message.includes('EADDRINUSE');
    if (!isTaken || others.length === 0) throw error;
    return startDemoServer({ ...options, ports: others });
  }
}

async function startServerOn(wanted: number, options: ServerOptions): Promise<Running> {
  const [port = 0] = wanted === 0 ? await freePorts(1) : [wanted];
  const logFile = join(options.dir, 'server.log');
  const program = await startServerProgram({
    env: {
      EARSHOT_DATABASE_URL: options.postgres.runtime,
      EARSHOT_ACCOUNT_DATABASE_URL: options.postgres.account,
      EARSHOT_MIGRATION_DATABASE_URL: options.postgres.owner,
      EARSHOT_NATS_URL: options.natsUrl,
      EARSHOT_X_TOKENS: `demo=${defaultXToken}`,
      EARSHOT_FIREHOSE_TOKENS: `demo=${defaultTapToken}`,
      EARSHOT_X_BASE_URL: options.sandboxUrl,
      EARSHOT_FIREHOSE_BASE_URL: options.sandboxUrl,
      ...(options.blueskyUrl !== null && { EARSHOT_BLUESKY_URL: options.blueskyUrl }),
      // The sandbox is free, but its feed would exceed the default budget within an hour.
      EARSHOT_RULE_BUDGET: 'off',
      EARSHOT_PORT: String(port),
      // With it, programs can connect to /mcp by OAuth.
      EARSHOT_PUBLIC_URL: `http://127.0.0.1:${port}`,
      // Allows webhooks to programs on this machine, which cannot have a certificate.
      EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
      EARSHOT_TEST: 'allowInsecureWebhooks=true',
    },
    logFile,
  });
  return running('The server', program.ready.address, { program, logFile });
}

function running(
  name: string,
  url: string,
  { program, logFile }: { program: Program<unknown>; logFile: string },
): Running {
  return {
    url,
    ended: program.exited.then(async () => {
      const log = await readFile(logFile, 'utf8').catch(() => '(no log)');
      return `${name} ended. Its log ends with:\n${log.trimEnd().split('\n').slice(-logLinesShown).join('\n')}`;
    }),
    async [Symbol.asyncDispose]() {
      // A kill loses nothing, because the data is deleted next.
      const lastResort = setTimeout(() => void program.kill(), endWithinMs);
      await program.stop();
      clearTimeout(lastResort);
    },
  };
}
