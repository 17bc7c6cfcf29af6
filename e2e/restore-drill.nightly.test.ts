import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@earshot/engines';
import { testNightly } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { copyUnderTraffic, expectRecovery, onDatabase, startDrill } from './src/drill.ts';

const startPrimary = (dir: string) => startPostgres({ dir });

test('a backup is restored while NATS continues: all of the log is stored again with new ids, and every follower gets it', async () => {
  await using drill = await startDrill(startPrimary);
  const dir = join(drill.dir, 'backup');
  await copyUnderTraffic(drill, () => drill.primary.backUp(dir));
  await using restored = await startPostgres({ dir });
  await drill.replacePrimary(restored);
  await expectRecovery(drill);
});

testNightly(
  'both are restored: what X sent since the backup is a gap in the ledger, and all else is as before',
  {},
  async () => {
    await using drill = await startDrill(startPrimary);
    const dir = join(drill.dir, 'backup');
    const [node] = drill.world.nats.nodes;
    if (!node) throw new Error('there is no NATS node');
    const { storeDir } = node;
    const storeCopy = join(drill.dir, 'nats');
    await copyUnderTraffic(drill, async () => {
      await node.kill('SIGTERM');
      await cp(storeDir, storeCopy, { recursive: true });
      await node.restart();
      await drill.primary.backUp(dir);
    });
    await using restored = await startPostgres({ dir });
    await drill.replacePrimary(restored, async () => {
      await node.kill('SIGKILL');
      await rm(storeDir, { recursive: true });
      await cp(storeCopy, storeDir, { recursive: true });
      await node.restart();
    });
    const { x } = await expectRecovery(drill);
    expect(x.inGaps).toBeGreaterThan(0);
  },
);

testNightly(
  'control: a restored database that keeps its incarnation gives existing ids to other matches',
  {},
  async () => {
    await using drill = await startDrill(startPrimary);
    const dir = join(drill.dir, 'backup');
    await copyUnderTraffic(drill, () => drill.primary.backUp(dir));
    await using restored = await startPostgres({ dir });
    await drill.replacePrimary(restored, () =>
      onDatabase(restored.urls.superuser, 'update match_log set server = this_server()'),
    );
    await sleep(3_000);
    await drill.feed.stop();
    expect((await drill.ambiguousIds()).length).toBeGreaterThan(0);
    expect(drill.followers.longPoll.outOfRange).toEqual([]);
  },
);
