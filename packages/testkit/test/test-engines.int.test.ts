import { access } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startTestNats } from '../src/test-engines.ts';

test('a test nats-server takes requests, and its store is deleted at the end', async () => {
  let storeDir = '';
  {
    await using nats = await startTestNats();
    storeDir = nats.nodes[0]?.storeDir ?? '';
    const answer = await fetch(`${nats.nodes[0]?.monitorUrl}/healthz`);
    expect(answer.status).toBe(200);
    await access(storeDir);
  }
  await expect(access(storeDir)).rejects.toThrow('ENOENT');
});
