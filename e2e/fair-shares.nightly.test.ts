import type { ErrorEnvelope } from '@earshot/contract';
import { testNightly } from '@earshot/testkit';
import { expect, test } from 'vitest';
import type { Answer, Api } from './src/api.ts';
import { startWorld } from './src/world.ts';

/** As an operator has it who sets nothing. */
const defaultShare = { EARSHOT_ACCOUNT_SHARE_PERCENT: '' };
/** What X allows in 15 minutes, less two that are never used and five that are kept for stops. */
const callsMax = 93;

function create(api: Api, value: string): Promise<Answer> {
  return api.call('POST', '/api.CreateRule', {
    name: value,
    intent: 'to see what happens',
    platforms: ['x'],
    overrides: { x: value },
  });
}

const ruleIdOf = ({ json }: Answer) => (json as { rule_id: string }).rule_id;
const errorOf = ({ json }: Answer) => json as ErrorEnvelope;

/** One rule after the other, each of which needs a call of its own. */
async function expectToCreate(api: Api, count: number): Promise<void> {
  for (let n = 0; n < count; n++) expect((await create(api, `other${n}`)).status).toBe(200);
}

test('an account that creates and deletes all the time is told to wait, may still delete, and leaves calls for others', async () => {
  await using world = await startWorld();
  await using server = await world.startServer(defaultShare);
  const api = server.api(await world.newAccount());
  let refused: Answer | null = null;
  let last: string | null = null;
  for (let pairs = 0; pairs < callsMax / 2 && refused === null; pairs++) {
    const created = await create(api, `word${pairs}`);
    if (created.status !== 200) refused = created;
    else {
      if (last !== null) await api.deleteRule(last);
      last = ruleIdOf(created);
    }
  }
  expect(refused && { status: refused.status, ...errorOf(refused) }).toMatchObject({
    status: 429,
    code: 'resource_exhausted',
    details: { reason: 'rate_limit', platform: 'x' },
  });
  const waitSeconds = Number(refused?.headers.get('retry-after'));
  expect(waitSeconds).toBeGreaterThan(600);
  expect(waitSeconds).toBeLessThanOrEqual(900);
  await api.deleteRule(last ?? '');
  await expectToCreate(server.api(await world.newAccount()), 3);
});

testNightly('an account that deletes many rules one by one leaves calls for others', {}, async () => {
  await using world = await startWorld();
  await using server = await world.startServer(defaultShare);
  const api = server.api(await world.newAccount());
  // At once, so that they travel in few calls.
  const created = await Promise.all(Array.from({ length: callsMax }, (_, n) => create(api, `word${n}`)));
  expect(new Set(created.map(({ status }) => status))).toEqual(new Set([200]));
  const { sandbox } = world;
  const changes = async () => (await sandbox.xState('world-x-token')).rule_calls.change.made;
  for (const one of created) {
    const before = await changes();
    await api.deleteRule(ruleIdOf(one));
    // As fast as each is removed on its own, while that goes on.
    for (let looks = 0; looks < 20 && (await changes()) === before; looks++) await pause();
  }
  await expectToCreate(server.api(await world.newAccount()), 3);
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

test('an account cannot take all upstream rules', async () => {
  await using world = await startWorld();
  await using server = await world.startServer({ ...defaultShare, EARSHOT_TEST: 'xRuleCapacity=8' });
  const api = server.api(await world.newAccount());
  const answers: Answer[] = [];
  for (let n = 0; n < 8; n++) answers.push(await create(api, `word${n}`));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
  expect(errorOf(answers[4] as Answer)).toMatchObject({
    code: 'resource_exhausted',
    details: { reason: 'share', limit: 4, used: 4, platform: 'x' },
  });
  await expectToCreate(server.api(await world.newAccount()), 2);
});
