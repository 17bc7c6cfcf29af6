import { expect, test, vi } from 'vitest';
import { defaultXToken, startSandbox } from '../src/index.ts';
import { createClient } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const job = (from: number, to: number) => `?start_time=${ago(from)}&end_time=${ago(to)}`;

test('a recovery replays the matches of its period, oldest first, and closes', async () => {
  await using sandbox = await startSandbox({
    xApps: [{ token: defaultXToken, plan: 'enterprise' }],
    ruleDelayMs: 0,
  });
  const client = createClient(sandbox);
  await client.addXRules('fjord');
  const posts = [9, 5, 4, 1].map((minutes) => ({ text: `fjord ${minutes}`, created_at: ago(minutes) }));
  await client.control('POST', '/x/posts', { posts: [...posts, { text: 'none', created_at: ago(5) }] });
  const replay = await client.openX(job(8, 2));
  expect(await replay.record()).toMatchObject({ data: { text: 'fjord 5' }, matching_rules: [{}] });
  expect(await replay.record()).toMatchObject({ data: { text: 'fjord 4' } });
  expect(await replay.record()).toBeUndefined();
  expect((await client.openX(job(25 * 60, 2))).status).toBe(400);
});

test('pay-per-use has no recovery', async () => {
  await using sandbox = await startSandbox();
  const client = createClient(sandbox);
  await client.addXRules('fjord');
  expect((await client.openX(job(8, 2))).status).toBe(400);
});
