import { expect, test } from 'vitest';
import { startWorld, tapToken, xToken } from './src/world.ts';

test.each(['x', 'firehose'] as const)(
  '%s: when no source takes more rules, the caller is told so, and a server that starts anew still knows it',
  async (platform) => {
    await using world = await startWorld({
      sandbox: { xApps: [{ token: xToken, ruleCap: 1 }], taps: [{ token: tapToken, ruleCap: 1 }] },
    });
    const account = await world.newAccount();
    {
      await using server = await world.startServer();
      await server.api(account).createRule({ [platform]: 'ash' });
      await expect(server.api(account).createRule({ [platform]: 'birch' })).rejects.toMatchObject({
        status: 429,
        envelope: { code: 'resource_exhausted', details: { reason: 'capacity', platform } },
      });
      expect((await server.api(account).listRules()).rules).toHaveLength(1);
    }
    await using server = await world.startServer();
    await expect(server.api(account).createRule({ [platform]: 'cedar' })).rejects.toMatchObject({
      envelope: { code: 'resource_exhausted', details: { reason: 'capacity', platform, limit: 1 } },
    });
  },
);
