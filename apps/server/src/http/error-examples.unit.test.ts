import {
  type ErrorCode,
  exampleErrors,
  type OperationId,
  operations,
  type Scope,
  scopes,
} from '@earshot/contract';
import { expect, test } from 'vitest';
import { serverWith, testPrincipal, uncalledHandlers } from '../../test/http-server.ts';
import { keyRefused } from '../accounts/keys.ts';
import { refuseRemoved, scopeOfFilter } from '../readers/offset.ts';
import { failureOf } from '../rules/await-registration.ts';
import { type ChangeRuleOptions, changeRule, type RuleChange } from '../rules/change-rule.ts';
import { changeUnderWay, noSuchRule, placementRefusal } from '../rules/refusals.ts';
import { createCursors } from '../runtime/cursor.ts';
import { nameTaken } from '../webhooks/refusals.ts';

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
  const handler = async () => {
    throw await thrown?.();
  };
  const { path, method: usualMethod, example } = operations[operation];
  await using server = serverWith({
    handlers: { ...uncalledHandlers, [operation]: handler },
    authenticate: authenticate ?? (async () => ({ ...testPrincipal, scopes: granted ?? scopes })),
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
