import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startTcpProxy, startTestPostgres } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { migrate } from '../src/engines/migrate.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { openMatchTail } from '../src/readers/match-tail.ts';
import { createTailReader } from '../src/readers/tail-reader.sql.ts';
import { createLocalBells } from './local-bells.ts';
import { openTestDatabase } from './support.ts';
import { runWorker } from './upstream-world.ts';

/** The match log on a primary at position 20, and on a standby at position 10. */
async function openPair() {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-standby-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  // If root runs the tests, PostgreSQL runs as another user, who needs access to its data.
  await chmod(dir, 0o711);
  const primary = stack.use(await startTestPostgres());
  await migrate(primary.url);
  const onPrimary = stack.use(openTestDatabase(primary.url));
  await onPrimary.run('update match_log set last_position = 10');
  const replication = stack.use(await startTcpProxy({ target: { port: primary.port } }));
  await primary.current().backUp(join(dir, 'standby'), { standbyAt: replication.port });
  const standby = stack.use(await startTestPostgres({ dir: join(dir, 'standby') }));
  const onStandby = stack.use(openTestDatabase(standby.url));
  replication.pause();
  await onPrimary.run('update match_log set last_position = 20');
  const running = stack.move();
  return { onPrimary, onStandby, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

test('a standby that is behind is no match log that went back, until it is promoted', async () => {
  await using pair = await openPair();
  const onPrimary = createTailReader(pair.onPrimary);
  const onStandby = createTailReader(pair.onStandby);
  let reads = 0;
  let current = onPrimary;
  const reader = { ...onPrimary, lastPosition: () => current.lastPosition().finally(() => reads++) };
  const restores: object[] = [];
  const telemetry = {
    matchFollowed: () => undefined,
    matchLogRestored: (positions: object) => void restores.push(positions),
  };
  const bells = createLocalBells();
  const tail = await openMatchTail({ reader, parsedRules: createParsedRules(), bells, telemetry });
  await using _worker = runWorker(tail.worker);
  const readTwice = async () => {
    const before = reads;
    await eventually(
      async () => {
        bells.ring('matches');
        expect(reads).toBeGreaterThan(before + 1);
      },
      { timeoutMs: 10_000 },
    );
  };
  await readTwice();
  expect(tail.position()).toBe(20);
  current = onStandby;
  await readTwice();
  expect(restores).toEqual([]);
  expect(tail.isLost(20)).toBe(false);
  await pair.onStandby.run('select pg_promote()');
  await readTwice();
  expect(restores).toEqual([{ from: 20, to: 10 }]);
});
