import { test } from 'vitest';
import { copyUnderTraffic, expectCarriedOn, startDrill } from './src/drill.ts';
import { startPatroniCluster } from './src/patroni.ts';

test('Patroni makes a replica that was behind the leader: all of the log is stored again, and everybody gets it', async () => {
  await using drill = await startDrill(startPatroniCluster);
  await copyUnderTraffic(drill, () => Promise.resolve(drill.primary.haltReplication()));
  const killedAt = performance.now();
  const target = { port: 0 };
  await drill.replacePrimary(target, async () => {
    target.port = (await drill.primary.promoted()).port;
    console.info(`another leader after ${Math.round((performance.now() - killedAt) / 1_000)} s`);
  });
  await expectCarriedOn(drill);
});
