import { expect, test } from 'vitest';
import { startWorld } from './src/world.ts';

/** Every address of 127.0.0.0/8 is this machine, and a server can listen on each separately. */
test("metrics listen on this machine only, whatever the API's address is, unless EARSHOT_METRICS_HOST is set", async () => {
  await using world = await startWorld();
  const reach = async (url: string, host: string) => {
    const there = Object.assign(new URL(url), { hostname: host });
    return await fetch(there).then(
      ({ status }) => status,
      () => 'refused',
    );
  };
  const usual = await world.startServer({ EARSHOT_HOST: '127.0.0.2' });
  expect(await reach(`${usual.url}/healthz`, '127.0.0.2')).toBe(200);
  expect(await reach(usual.metricsUrl, '127.0.0.1')).toBe(200);
  expect(await reach(usual.metricsUrl, '127.0.0.2')).toBe('refused');
  const configured = await world.startServer({ EARSHOT_METRICS_HOST: '127.0.0.3' });
  expect(await reach(`${configured.url}/healthz`, '127.0.0.1')).toBe(200);
  expect(await reach(configured.metricsUrl, '127.0.0.3')).toBe(200);
  expect(await reach(configured.metricsUrl, '127.0.0.1')).toBe('refused');
});
