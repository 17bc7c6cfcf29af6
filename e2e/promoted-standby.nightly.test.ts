import { join } from 'node:path';
import { startPostgres } from '@earshot/engines';
import { startTcpProxy } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { copyUnderTraffic, expectRecovery, onDatabase, startDrill } from './src/drill.ts';

test('an asynchronous standby with a delay takes over: all of the log is stored again, and every follower gets it', async () => {
  await using drill = await startDrill((dir) => startPostgres({ dir }));
  const dir = join(drill.dir, 'standby');
  await using replication = await startTcpProxy({ target: { port: drill.primary.port } });
  await drill.primary.backUp(dir, { standbyAt: replication.port });
  await using standby = await startPostgres({ dir });
  await copyUnderTraffic(drill, () => Promise.resolve(replication.pause()));
  await drill.replacePrimary(standby, () => onDatabase(standby.urls.superuser, 'select pg_promote()'));
  expect(replication.fired.held).toBeGreaterThan(0);
  await expectRecovery(drill);
});
