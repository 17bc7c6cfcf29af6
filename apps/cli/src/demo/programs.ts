import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresUrls, type Program, startSandboxProgram, startServerProgram } from '@earshot/engines';
import { defaultTapToken, defaultXToken } from '@earshot/sandbox';

const endWithinMs = 5_000;
/** An uncaught error of the database alone takes 25. */
const logLinesShown = 40;

/** A program of ours and its address. */
export interface Running extends AsyncDisposable {
  readonly url: string;
  /** Resolves when it ends, with the words for an end that nobody asked for. */
  readonly ended: Promise<string>;
}

export async function startDemoSandbox(options: { dir: string; feed: string }): Promise<Running> {
  const logFile = join(options.dir, 'sandbox.log');
  const program = await startSandboxProgram({
    // Nobody wants to wait two seconds for the first match, as on X.
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

async function startServerOn(port: number, options: ServerOptions): Promise<Running> {
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
      // The sandbox charges nothing, and sends in an hour what would cost more than a day may.
      EARSHOT_RULE_BUDGET: 'off',
      EARSHOT_PORT: String(port),
      // Webhooks to a program on this machine: there is no certificate to be had for it.
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
      // Its data is deleted next: nothing is lost by a kill, and nobody waits for a slow end.
      const lastResort = setTimeout(() => void program.kill(), endWithinMs);
      await program.stop();
      clearTimeout(lastResort);
    },
  };
}
