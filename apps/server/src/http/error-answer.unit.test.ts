import { expect, test } from 'vitest';
import { testLimits } from '../../test/call-of.ts';
import { tooManyGuesses } from '../accounts/authenticate.ts';
import type { Principal } from '../accounts/call.ts';
import { createKeyAs } from '../accounts/keys.ts';
import { createRateLimits, createStreamLimit } from '../accounts/rate-limits.ts';
import { failureOf } from '../rules/await-registration.ts';
import { placementRefusal } from '../rules/refusals.ts';
import { Failure } from '../runtime/failure.ts';
import { errorAnswer } from './error-answer.ts';

const contact = 'us@example.com';
const principal: Principal = {
  accountId: 'acc_1',
  keyId: 'key_1',
  plan: 'paid',
  limits: { ...testLimits, requests: 1, keys: 1 },
  scopes: [],
};

function admissionRefusal(requests: number, inFlightMax: number): unknown {
  const caller = { ...principal, limits: { ...testLimits, requests } };
  const limits = createRateLimits({ contact, inFlightMax, nowMs: () => 0 });
  limits.admit(caller, { changes: false });
  return limits.admit(caller, { changes: false }).refusal;
}

function streamRefusal(): unknown {
  try {
    return createStreamLimit({ perKeyMax: 0, contact })(principal);
  } catch (error) {
    return error;
  }
}

function keyRefusal(): Promise<unknown> {
  const options = {
    keys: { createKey: () => Promise.resolve({ kind: 'keys_limit', used: 1 }) },
    contact,
  } as never;
  const grant = { scopes: [], expiresAt: null, budget: null };
  const caller = { principal, change: {} as never };
  return createKeyAs(options, caller, {} as never, grant).catch((error: unknown) => error);
}

const refused = (outcome: Parameters<typeof placementRefusal>[0]) => placementRefusal(outcome, 1, contact);
const slot = { platform: 'x', state: 'failed', problem: 'full', problemKind: 'full' } as const;

/** Limits of webhooks, digests and named readers are refused within a transaction: e2e/limits.e2e.test.ts has them. */
test.each([
  ['rate of a key', 'rate_limit', true, () => admissionRefusal(1, 9)],
  ['rate of unknown keys', 'rate_limit', true, () => tooManyGuesses(7)],
  [
    'rate of upstream changes',
    'rate_limit',
    true,
    () => refused({ kind: 'calls_share', platform: 'x', waitMs: 30_000 }),
  ],
  ['requests at once', 'concurrency', true, () => admissionRefusal(9, 1)],
  ['open streams', 'concurrency', true, streamRefusal],
  ['keys of the plan', 'plan_limit', false, keyRefusal],
  ['rules of the plan', 'plan_limit', false, () => refused({ kind: 'premium_limit', used: 1 })],
  [
    'share of upstream rules',
    'share',
    false,
    () => refused({ kind: 'slots_share', platform: 'x', limit: 1, used: 1 }),
  ],
  ['upstream rules', 'capacity', false, () => refused({ kind: 'sources_full', platform: 'x', capacity: 1 })],
  ['upstream that is full', 'capacity', false, () => failureOf([slot as never])],
] as const)('a limit has a retry-after only where waiting helps: %s', async (_, reason, passes, fail) => {
  const { status, headers, body } = errorAnswer(await fail(), 'req_1');
  expect([status, body.code, body.details.reason]).toEqual([429, 'resource_exhausted', reason]);
  expect(Object.keys(headers)).toEqual(passes ? ['retry-after'] : []);
});

test('a platform without a credential has no retry-after', () => {
  const { headers, body } = errorAnswer(refused({ kind: 'no_source', platform: 'x' }), 'req_1');
  expect(body).toMatchObject({ code: 'failed_precondition', details: { reason: 'credentials' } });
  expect(headers).toEqual({});
});

test('a temporary failure always has a retry-after', () => {
  const { status, headers } = errorAnswer(
    new Failure('unavailable', 'Away.', { details: { reason: 'database' } }),
    'req_1',
  );
  expect([status, headers['retry-after']]).toEqual([503, '5']);
});

test('a limit without a reason, or with a pointless wait, does not compile', () => {
  // @ts-expect-error -- no reason
  expect(new Failure('resource_exhausted', 'Full.')).toBeInstanceOf(Failure);
  // @ts-expect-error -- a rate limit is temporary, so it needs a wait
  expect(new Failure('resource_exhausted', 'Full.', { details: { reason: 'rate_limit' } })).toBeTruthy();
  const waiting = { details: { reason: 'plan_limit' }, retryAfterSeconds: 60 } as const;
  // @ts-expect-error -- a plan limit is not temporary
  expect(new Failure('resource_exhausted', 'Full.', waiting)).toBeInstanceOf(Failure);
});
