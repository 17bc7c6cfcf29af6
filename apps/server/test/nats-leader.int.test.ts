import { eventually, startTestNats } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { connectNats } from '../src/engines/nats.ts';

test('a client that connects before the NATS servers have a leader waits for it', async () => {
  await using servers = await startTestNats({ nodes: 3 });
  const [only, second, third] = servers.nodes;
  if (!only || !second || !third) throw new Error('three nodes were requested');
  await Promise.all([second.kill('SIGKILL'), third.kill('SIGKILL')]);
  await eventually(
    async () => {
      const answer = await fetch(`${only.monitorUrl}/jsz`);
      expect(await answer.json()).not.toHaveProperty('meta_cluster.leader');
    },
    { timeoutMs: 60_000 },
  );
  const waits = Promise.withResolvers<unknown>();
  const connecting = connectNats(only.url, 'early', { onWaiting: waits.resolve });
  await Promise.race([waits.promise, connecting]);
  await second.restart();
  await using nats = await connecting;
  await expect(nats.manager.getAccountInfo()).resolves.toHaveProperty('streams');
  await expect(waits.promise).resolves.toBeInstanceOf(Error);
}, 120_000);
