import type { Template, TestDatabase } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAuthenticate, createKeyLookup } from '../src/accounts/authenticate.ts';
import { createConsoleSessions } from '../src/accounts/console-sessions.ts';
import type { PlanName } from '../src/accounts/plans.ts';
import { type Admin, openAdmin } from '../src/admin.ts';
import type { Database } from '../src/engines/database.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let template: Template;
let stack: AsyncDisposableStack;
let clone: TestDatabase;
/** As a server connects: with the login that may not change a plan. */
let database: Database;
let admin: Admin;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.urls.runtime));
  admin = stack.use(await openAdmin(clone.urls.owner));
  return () => stack.disposeAsync();
});

const guesses = { failed: () => null };

async function keyOf(plan: PlanName): Promise<{ accountId: string; key: string }> {
  const { accountId } = await admin.createAccount({ name: plan, plan });
  const created = await admin.createKey({ accountId });
  return { accountId, key: created?.key ?? '' };
}

test('a running node applies a new plan limit within 5 s, to keys and console sessions of that plan only', async () => {
  const clock = { nowMs: 0 };
  const authenticate = createAuthenticate({
    store: createKeyLookup(database),
    guesses,
    nowMs: () => clock.nowMs,
  });
  const sessions = createConsoleSessions({ database, guesses });
  const [free, paid] = [await keyOf('free'), await keyOf('paid')];
  const principalOf = ({ key }: { key: string }) => authenticate(`Bearer ${key}`, '127.0.0.1');
  const signedIn = await sessions.signInWithKey(await principalOf(free), {
    formerTokens: [],
    requestId: 'req_1',
  });
  const inConsole = () => sessions.sessionOf(signedIn?.token ?? '');
  expect(await principalOf(free)).toMatchObject({ plan: 'free', limits: { readers: 5, webhooks: 2 } });
  expect(await principalOf(paid)).toMatchObject({ plan: 'paid', limits: { readers: 100 } });

  await admin.setPlanLimits('free', { readers: 7 });
  clock.nowMs += 5_000;
  expect(await principalOf(free)).toMatchObject({ limits: { readers: 7, webhooks: 2 } });
  expect(await inConsole()).toMatchObject({ principal: { plan: 'free', limits: { readers: 7 } } });
  expect(await principalOf(paid)).toMatchObject({ limits: { readers: 100 } });
  expect(await admin.listPlans()).toMatchObject([
    { name: 'paid', readers: 100 },
    { name: 'free', readers: 7, webhooks: 2 },
  ]);
});

test("an account's own limit overrides that of its plan", async () => {
  const { accountId, key } = await keyOf('free');
  await admin.setLimits(accountId, { readers: 50 });
  await admin.setPlanLimits('free', { readers: 7, digests: 0 });
  const principal = await createAuthenticate({ store: createKeyLookup(database), guesses, nowMs: () => 0 })(
    `Bearer ${key}`,
    '127.0.0.1',
  );
  expect(principal).toMatchObject({ limits: { readers: 50, digests: 0 } });
});

test.each([{ keys: 0 }, { rules: -1 }])('the database refuses %j for a plan', async (limits) => {
  await expect(admin.setPlanLimits('free', limits)).rejects.toThrow('violates check constraint');
});

test('the database refuses a plan that does not exist', async () => {
  const { accountId } = await keyOf('free');
  await expect(admin.setPlan(accountId, 'gold' as never)).rejects.toThrow('accounts_plan_known');
});
