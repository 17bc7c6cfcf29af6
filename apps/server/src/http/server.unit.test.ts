import { once } from 'node:events';
import { connect } from 'node:net';
import { operations } from '@earshot/contract';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Principal } from '../accounts/call.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createTelemetry } from '../observability/telemetry.ts';
import type { Handlers } from './handlers.ts';
import { createHttpServer } from './server.ts';

/** Nobody gets so far. */
const handlers = Object.fromEntries(
  Object.keys(operations).map((id) => [id, () => Promise.reject(new Error(`${id} was called`))]),
) as unknown as Handlers;

const principal: Principal = { accountId: 'acc_1', keyId: 'key_1', plan: 'paid', scopes: ['keys:write'] };

test('a caller that goes while its key is looked up gives its place back', async () => {
  const log = pino({ level: 'silent' });
  const asked = Promise.withResolvers<void>();
  const known = Promise.withResolvers<Principal>();
  const released = Promise.withResolvers<void>();
  await using server = createHttpServer({
    handlers,
    authenticate: () => {
      asked.resolve();
      return known.promise;
    },
    limits: { admit: () => ({ headers: {}, refusal: null, release: () => released.resolve() }) },
    answerOnce: () => Promise.reject(new Error('not asked')),
    isReady: () => Promise.resolve([]),
    mcpOrigins: [],
    trustedProxies: [],
    telemetry: createTelemetry(log, createMetrics()),
    log,
  });
  const url = new URL(await server.listen('127.0.0.1', 0));
  const socket = connect(Number(url.port), url.hostname);
  socket.write('POST /api.ListKeys HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n{}');
  await asked.promise;
  socket.destroy();
  await once(socket, 'close');
  // Whoever gets these answers knows that the server has seen the other connection end.
  for (let n = 0; n < 3; n++) await (await fetch(new URL('/healthz', url))).text();
  known.resolve(principal);
  await expect(released.promise).resolves.toBeUndefined();
});
