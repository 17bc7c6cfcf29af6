import { operations } from '@earshot/contract';
import { pino } from 'pino';
import type { Principal } from '../src/accounts/call.ts';
import type { Handlers } from '../src/http/handlers.ts';
import { createHttpServer, type HttpServerOptions } from '../src/http/server.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import { testLimits } from './call-of.ts';

/** Handlers that a test does not expect to be called. */
export const uncalledHandlers = Object.fromEntries(
  Object.keys(operations).map((id) => [id, () => Promise.reject(new Error(`${id} was called`))]),
) as unknown as Handlers;

export const testPrincipal: Principal = {
  accountId: 'acc_1',
  keyId: 'key_1',
  plan: 'paid',
  limits: testLimits,
  scopes: ['keys:write', 'rules:read'],
};

/** The HTTP server without PostgreSQL. Every caller has the test key; a test replaces what it needs. */
export function serverWith(options: Partial<HttpServerOptions>, log = pino({ level: 'silent' })) {
  return createHttpServer({
    handlers: uncalledHandlers,
    authenticate: async () => testPrincipal,
    keyWatch: { watch: () => ({ ended: new AbortController().signal, [Symbol.dispose]: () => undefined }) },
    limits: { admit: () => ({ headers: {}, refusal: null, release: () => undefined }) },
    answerOnce: () => Promise.reject(new Error('not expected')),
    isReady: () => Promise.resolve([]),
    mcpConfirmUsd: 5,
    publicUrl: null,
    readFeed: async () => null,
    resourceServer: null,
    authorizationServer: null,
    sessions: null,
    consoleFolder: '/nowhere',
    trustedProxies: [],
    telemetry: createTelemetry(log, createMetrics()),
    log,
    ...options,
  });
}
