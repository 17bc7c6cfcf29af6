import {
  type ErrorCode,
  exampleErrors,
  type OperationId,
  operations,
  type Scope,
  scopes,
} from '@earshot/contract';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { testLimits } from '../../test/call-of.ts';
import { keyRefused } from '../accounts/keys.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createTelemetry } from '../observability/telemetry.ts';
import { refuseRemoved, scopeOfFilter } from '../readers/offset.ts';
import { failureOf } from '../rules/await-registration.ts';
import { type ChangeRuleOptions, changeRule, type RuleChange } from '../rules/change-rule.ts';
import { changeUnderWay, noSuchRule, placementRefusal } from '../rules/refusals.ts';
import { createCursors } from '../runtime/cursor.ts';
import { nameTaken } from '../webhooks/refusals.ts';
import type { Handlers } from './handlers.ts';
import { createHttpServer } from './server.ts';

const requestId = 'req_01kb2mp8r4t7v1x5z9b3c6d0fg';

const { name, ...withoutName } = operations.CreateRule.example.request;

interface Cause {
  readonly operation?: OperationId;
  readonly body?: object;
  /** Of the key; all by default. */
  readonly granted?: readonly Scope[];
  readonly method?: 'GET';
  readonly authenticate?: () => Promise<never>;
  /** What the handler of the operation throws. */
  readonly thrown?: () => unknown;
}

/** An answer of the HTTP server, without a database. */
async function answerTo({ operation = 'GetRule', body, method, granted, authenticate, thrown }: Cause) {
  const log = pino({ level: 'silent' });
  const handler = async () => {
    throw await thrown?.();
  };
  const { path, method: usualMethod, example } = operations[operation];
  await using server = createHttpServer({
    handlers: { [operation]: handler } as unknown as Handlers,
    authenticate:
      authenticate ??
      (async () => ({
        accountId: 'acc_1',
        keyId: 'key_1',
        plan: 'paid',
        limits: testLimits,
        scopes: granted ?? scopes,
      })),
    keyWatch: { watch: () => ({ ended: new AbortController().signal, [Symbol.dispose]: () => undefined }) },
    limits: { admit: () => ({ headers: {}, refusal: null, release: () => undefined }) },
    answerOnce: () => Promise.reject(new Error('not expected')),
    isReady: async () => [],
    mcpConfirmUsd: 5,
    resourceServer: null,
    authorizationServer: null,
    sessions: null,
    consoleFolder: '/nowhere',
    trustedProxies: [],
    telemetry: createTelemetry(log, createMetrics()),
    log,
  });
  const url = await server.listen('127.0.0.1', 0);
  const response = await fetch(new URL(path, url), {
    method: method ?? usualMethod,
    headers: { 'content-type': 'application/json', 'x-request-id': requestId },
    ...(method === undefined && { body: JSON.stringify(body ?? example.request) }),
  });
  return await response.json();
}

const causes: Readonly<Record<ErrorCode, Cause>> = {
  invalid_argument: { operation: 'CreateRule', body: { nmae: name, ...withoutName } },
  failed_precondition: { thrown: resumeActiveRule },
  out_of_range: { thrown: readRemovedMatches },
  unauthenticated: { authenticate: () => Promise.reject(keyRefused()) },
  permission_denied: { operation: 'PauseRule', granted: ['rules:read'] },
  not_found: { thrown: noSuchRule },
  already_exists: { thrown: () => nameTaken('alerts') },
  aborted: { thrown: changeUnderWay },
  resource_exhausted: {
    thrown: () => placementRefusal({ kind: 'premium_limit', used: 25 }, 25, 'support@example.com'),
  },
  internal: { thrown: () => new Error('a bug') },
  unimplemented: { operation: 'CreateRule', method: 'GET' },
  unavailable: { thrown: () => failureOf([waitingSlot('x', 'X answered 503')]) },
  deadline_exceeded: { thrown: () => failureOf([waitingSlot('firehose', null)]) },
};

function waitingSlot(platform: 'x' | 'firehose', problem: string | null) {
  return { platform, state: 'pending', problem, problemKind: null, live: false } as never;
}

async function resumeActiveRule(): Promise<unknown> {
  const bells = { listen: () => ({ [Symbol.dispose]: () => undefined }) };
  const change = { begin: async () => ({ kind: 'not_paused' }) };
  return await changeRule({ bells } as unknown as ChangeRuleOptions, change as RuleChange).catch(
    (error: unknown) => error,
  );
}

function readRemovedMatches(): unknown {
  const scope = scopeOfFilter({ accountId: 'acc_1', ruleId: null, platform: null });
  const offset = { position: 128_968, knownRemoved: 0 };
  try {
    return refuseRemoved(createCursors(Buffer.alloc(32)), scope, offset, 129_000);
  } catch (error) {
    return error;
  }
}

test.each(Object.entries(causes))('the documented example of %s is a real answer', async (code, cause) => {
  expect(await answerTo(cause)).toEqual(exampleErrors[code as ErrorCode]);
});
