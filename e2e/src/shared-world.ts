import { eventually } from '@earshot/testkit';
import { inject } from 'vitest';
import { askDatabase } from './ledger.ts';
import { type ServerUnderTest, startWorld, tapToken, type World, xToken } from './world.ts';

/** The server of all files that share the world. No setting affects another file. */
const settings = {
  EARSHOT_SUPPORT_CONTACT: 'us@example.com',
  // All these files together create more rules than the upstream's rate limit allows.
  EARSHOT_TEST: 'keepOldValueMs=0,upstreamPace=1000',
};

let shared: Promise<{ world: World; server: ServerUnderTest }> | undefined;

/**
 * A world with one running server for the test files that only call it (the project `e2e-shared`, which contains all files
 * that call this function). A worker runs the files one after the other and starts the world once. Disposing does not end
 * it, but resets it: without rules, upstream and here, and without faults.
 */
export async function shareWorld(): Promise<World> {
  shared ??= startShared();
  const { world, server } = await shared;
  return {
    ...world,
    startServer: () => Promise.resolve(server),
    [Symbol.asyncDispose]: () => leave(world, server),
  };
}

async function startShared() {
  const world = await startWorld({ sandbox: { rateLimits: false }, within: inject('runDir') });
  await world.admin.setPlanLimits('paid', { keys: 3 });
  const server = await world.startServer(settings);
  // No code runs after the last file: PostgreSQL and NATS end with this process, and the server must not log their loss.
  process.once('exit', () => process.kill(server.pid, 'SIGKILL'));
  return { world, server };
}

async function leave(world: World, server: ServerUnderTest): Promise<void> {
  await world.sandbox.clearFaults();
  const { rows } = await askDatabase(world, `select distinct account_id from rules where state <> 'deleted'`);
  for (const { account_id: accountId } of rows) {
    const key = await world.admin.createKey({ accountId });
    const api = server.api({ accountId, keyId: '', key: key?.key ?? '' });
    for (const { id } of (await api.listRules()).rules) await api.deleteRule(id);
  }
  await eventually(
    async () => {
      const [x, firehose] = [await world.sandbox.xState(xToken), await world.sandbox.firehoseState(tapToken)];
      if (x.rules.length + firehose.rules.length > 0) throw new Error('there are still rules upstream');
    },
    { timeoutMs: 60_000 },
  );
}
