import { startSandbox } from '@earshot/sandbox';
import { expect, test, vi } from 'vitest';
import { control, doctor, numbersOf } from './doctor-bench.ts';

const all = ['B-1', 'B-2', 'B-3', 'B-4', 'B-5'];

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

const checked = (sandbox: Sandbox, { path = '', pace }: { path?: string; pace: number }) =>
  doctor(sandbox, {
    bluesky: { baseUrl: sandbox.url.replace('http', 'ws') + path, token: null },
    steps: ['B0'],
    pace,
  });

test('agrees with the emulator, whose posts it reads by both protocols', async () => {
  await using sandbox = await startSandbox({ blueskyPostsPerSecond: 200 });
  // A minute of the doctor takes 5 s, which the log must reach back, and a connection 1.25 s, enough on a busy machine.
  const pace = 12;
  await vi.waitFor(async () => {
    const { posts } = (await control(sandbox, 'bluesky/log?limit=1')) as { posts: Array<{ time: string }> };
    expect(Date.now() - Date.parse(posts[0]?.time ?? '')).toBeGreaterThan(5_200);
  }, 20_000);
  for (const path of ['', '/subscribe']) {
    const agreeing = numbersOf(await checked(sandbox, { path, pace }), 'agrees');
    expect({ path, agreeing }).toEqual({ path, agreeing: all });
  }
});

test('finds that nothing arrives', async () => {
  await using sandbox = await startSandbox();
  expect(numbersOf(await checked(sandbox, { pace: 120 }), 'differs')).toEqual(all);
});
