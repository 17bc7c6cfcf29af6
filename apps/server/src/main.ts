import { startNode } from './compose/node.ts';
import { BadConfig, readConfig } from './config/config.ts';
import { createLogger } from './observability/logger.ts';
import { Failure } from './runtime/failure.ts';
import { balancerNoticesMs, shutDown, shutdownWithinMs } from './runtime/shut-down.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const node = await startNode({
    config,
    log: createLogger({ level: config.logLevel }),
    checkpoint: (label) => {
      if (label === config.crashAt) process.kill(process.pid, 'SIGKILL');
    },
  });
  const { log } = node;
  const { switched } = config;
  if (switched.length > 0)
    log.warn({ switched }, 'EARSHOT_TEST is set: it is for tests, benchmarks and the demo');
  log.info({ address: node.address, metricsPort: node.metricsPort, roles: config.roles }, 'earshot is up');
  const signal = await nextSignal();
  log.info({ signal }, 'shutting down');
  await shutDown(node, {
    drainDelayMs: config.trustedProxies.length > 0 ? balancerNoticesMs : 0,
    withinMs: shutdownWithinMs,
    giveUp: () => process.exit(1),
  });
  log.info('earshot is down');
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

/** Errors that the operator can fix have a message only; all others have a stack trace. */
function explain(error: unknown): string {
  if (error instanceof BadConfig) return error.message;
  if (error instanceof Failure && error.cause instanceof Error)
    return `${error.message} (${error.cause.message})`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

await main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
  // A half-started node may hold sockets open.
  setTimeout(() => process.exit(1), 1_000).unref();
});
