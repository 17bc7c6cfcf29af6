import { gunzipSync } from 'node:zlib';
import { eventually, skipUnless } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { storeMatches } from './src/stored-matches.ts';
import { missingSwift, startSwift } from './src/swift.ts';
import { startWorld } from './src/world.ts';

const patiently = { timeoutMs: 120_000, intervalMs: 250 };
const count = 25_000;
const settings = {
  EARSHOT_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
};

test(
  'a real storage gets every match in exactly one object, although the server is killed, and refuses a wrong secret',
  skipUnless('python', missingSwift),
  async () => {
    await using swift = await startSwift();
    await using world = await startWorld();
    let server = await world.startServer(settings);
    const account = await world.newAccount();
    await swift.createBucket('lake');
    const { rule_id: ruleId } = await server.api(account).createRule({ x: 'comet' });
    const create = (name: string, secret: string) =>
      server.api(account).call('POST', '/api.CreateArchive', {
        name,
        prefix: name,
        bucket: 'lake',
        endpoint: swift.endpoint,
        region: swift.region,
        access_key_id: swift.accessKeyId,
        secret_access_key: secret,
      });
    expect((await create('wrong', 'not-the-secret')).status).toBe(200);
    const listed = async () =>
      Object((await server.api(account).call('POST', '/api.ListArchives', {})).json).archives;
    await eventually(async () => {
      expect(await listed()).toMatchObject([
        { state: 'failing', message: 'The storage answered 403 (SignatureDoesNotMatch).' },
      ]);
    }, patiently);
    expect((await create('right', swift.secretAccessKey)).status).toBe(200);

    await storeMatches(world.database, { accountId: account.accountId, ruleId, count, textLength: 1_000 });
    await world.database.query(`update match_times set began = began - interval '2 hours'`);
    await world.database.query(
      `update archives set covered_until = date_trunc('hour', now()) - interval '3 hours', next_attempt_at = now()
       where name = 'right'`,
    );
    const objects = async () =>
      (await swift.list('lake')).filter((name) => name.startsWith('right/') && name.endsWith('.gz'));
    for (const killedAfter of [1, 2]) {
      await eventually(
        async () => expect((await objects()).length).toBeGreaterThanOrEqual(killedAfter),
        patiently,
      );
      await server.kill();
      await world.database.query(`update archives set lease_until = '-infinity'`);
      server = await world.startServer(settings);
    }
    await eventually(async () => {
      const { rows } = await world.database.query(
        `select covered_until >= date_trunc('hour', now()) - interval '1 hour' as "isDone" from archives where name = 'right'`,
      );
      expect(rows).toEqual([{ isDone: true }]);
    }, patiently);
    const ids: string[] = [];
    for (const name of await objects())
      for (const line of gunzipSync(await swift.read('lake', name))
        .toString()
        .split('\n')
        .filter(Boolean))
        ids.push(JSON.parse(line).id);
    expect(ids.length).toBe(count);
    expect(new Set(ids).size).toBe(count);
    const manifests = (await swift.list('lake')).filter((name) => /^right\/.*manifest\.json$/.test(name));
    const bodies = await Promise.all(
      manifests.map(async (name) => JSON.parse((await swift.read('lake', name)).toString())),
    );
    const inManifests = bodies
      .flatMap(({ objects: all }) => all.map(({ name }: { name: string }) => name))
      .map(String);
    expect(inManifests.toSorted()).toEqual((await objects()).toSorted());
  },
);
