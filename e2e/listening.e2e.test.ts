import { expect, test } from 'vitest';
import { startWorld } from './src/world.ts';

/** Every address of 127.0.0.0/8 is this machine, and each is its own to listen on. */
test('metrics listen on this machine alone, whatever the address of the API, unless their own says otherwise', async () => {
  await using world = await startWorld();
  const reach = async (url: string, host: string) => {
    const there = Object.assign(new URL(url), { hostname: host });
    return await fetch(there).then(
      ({ status }) => status,
      () => 'nobody',
    );
  };
  const usual = await world.startServer({ EARSHOT_HOST: '127.0.0.2' });
  expect(await reach(`${usual.url}/healthz`, '127.0.0.2')).toBe(200);
  expect(await reach(usual.metricsUrl, '127.0.0.1')).toBe(200);
  expect(await reach(usual.metricsUrl, '127.0.0.2')).toBe('nobody');
  const told = await world.startServer({ EARSHOT_METRICS_HOST: '127.0.0.3' });
  expect(await reach(`${told.url}/healthz`, '127.0.0.1')).toBe(200);
  expect(await reach(told.metricsUrl, '127.0.0.3')).toBe(200);
  expect(await reach(told.metricsUrl, '127.0.0.1')).toBe('nobody');
});
