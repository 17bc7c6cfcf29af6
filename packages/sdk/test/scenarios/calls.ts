import { type ErrorCode, errorCodes, type Operation, operations } from '@earshot/contract';
import { expect } from 'vitest';
import { cut, failure, json, proxyPage } from '../answering-server.ts';
import { type Respond, repeat, type Scenario, type Step } from './scenario.ts';

export function callScenarios(): Scenario[] {
  const rows: readonly Operation[] = Object.values(operations);
  const called = rows.filter(({ stream, file }) => stream !== true && !file);
  const call = (operation: string, request: object = {}, options: object = {}): Step => ({
    do: 'call',
    operation,
    request,
    ...options,
  });
  const deleteRule = call('DeleteRule', { rule_id: 'rule_1' });
  const failed = (fields: object) => ({ error: expect.objectContaining(fields) });
  const proxyCodes = Object.entries({
    401: 'unauthenticated',
    403: 'permission_denied',
    404: 'unimplemented',
    429: 'unavailable',
    502: 'unavailable',
    503: 'unavailable',
    504: 'unavailable',
    500: 'unknown',
    302: 'unknown',
    200: 'unknown',
  }).map(([status, code]) => ({ status: Number(status), code }));
  const codes = Object.entries(errorCodes) as [ErrorCode, (typeof errorCodes)[ErrorCode]][];
  return [
    {
      name: 'every operation sends the request of the contract',
      answers: () => [json(200, { fine: true })],
      steps: called.map(({ id, example }) => call(id, example.request)),
      observed: called.map(() => ({ answer: { fine: true } })),
      received: called.map(({ method, path, changes, example }, index) => {
        const query = new URLSearchParams(Object.entries(example.request)).toString();
        return {
          url: method === 'GET' && query !== '' ? `${path}?${query}` : path,
          ...(changes && { key: `key ${called.slice(0, index + 1).filter((one) => one.changes).length}` }),
          ...(method === 'POST' && { body: example.request }),
        };
      }),
    },
    {
      name: 'null is sent where the contract has a meaning for it',
      answers: () => [json(200, {})],
      steps: [call('UpdateRule', { rule_id: 'rule_1', budget: null }, { idempotencyKey: 'mine' })],
      observed: [{ answer: {} }],
      received: [{ url: '/api.UpdateRule', key: 'mine', body: { rule_id: 'rule_1', budget: null } }],
    },
    {
      name: 'a create whose answers are lost is made once',
      answers: () => {
        const made = new Map<unknown, object>();
        const create: (then: (answer: object) => Respond) => Respond = (then) => (response, request) => {
          const key = request.headers['idempotency-key'];
          if (!made.has(key)) made.set(key, { rule_id: `rule_${made.size + 1}` });
          then(made.get(key) ?? {})(response, request);
        };
        return [
          create(() => cut),
          create(() => proxyPage(502)),
          create(() => failure(409, 'aborted')),
          create((answer) => json(200, answer)),
        ];
      },
      steps: ['a', 'b'].map((name) =>
        call('CreateRule', { name, intent: 'i', platforms: ['x'], overrides: { x: 'a' } }),
      ),
      observed: [{ answer: { rule_id: 'rule_1' } }, { answer: { rule_id: 'rule_2' } }],
      received: ['key 1', 'key 1', 'key 1', 'key 1', 'key 2'].map((key) =>
        expect.objectContaining({ url: '/api.CreateRule', key }),
      ),
    },
    {
      name: 'a proxy page with 503 is retried',
      answers: () => [proxyPage(503), json(200, { keys: [] })],
      steps: [call('ListKeys')],
      observed: [{ answer: { keys: [] } }],
    },
    {
      name: 'a limit with Retry-After is retried after that time',
      answers: () => [failure(429, 'resource_exhausted', { 'retry-after': '1' }), json(200, {})],
      steps: [call('ListKeys')],
      observed: [{ answer: {} }],
      waitMs: 990,
    },
    {
      name: 'Retry-After may be a date',
      answers: () => [
        failure(429, 'resource_exhausted', { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' }),
        json(200, {}),
      ],
      steps: [call('ListKeys')],
      observed: [{ answer: {} }],
    },
    {
      name: 'a limit without Retry-After is not retried',
      answers: () => [failure(429, 'resource_exhausted', {}, { reason: 'plan_limit' }), json(200, {})],
      steps: [call('CreateKey')],
      observed: [failed({ code: 'resource_exhausted', reason: 'plan_limit', retryable: false })],
    },
    {
      name: 'errors that a retry cannot fix are not retried',
      answers: () => [failure(400, 'invalid_argument'), json(200, {})],
      steps: [deleteRule],
      observed: [failed({ code: 'invalid_argument', retryable: false })],
    },
    {
      name: 'every error of the contract has its fields',
      answers: () =>
        codes.map(([code, { status }]) =>
          failure(status, code, { 'retry-after': '7' }, { oldest_cursor: 'c' }),
        ),
      // The requested wait is longer than the time that is left.
      steps: codes.map(() => call('ListKeys', {}, { timeoutMs: 5_000 })),
      observed: codes.map(([code, { status, retryable }]) => ({
        error: {
          code,
          message: `because ${code}`,
          reason: null,
          details: { request_id: 'req_1', oldest_cursor: 'c' },
          requestId: 'req_1',
          status,
          retryable,
          retryAfterMs: 7_000,
        },
      })),
    },
    {
      name: 'the error page of a proxy has a code by its status',
      answers: () => proxyCodes.map(({ status }) => proxyPage(status, { 'retry-after': '600' })),
      steps: proxyCodes.map(() => call('ListKeys')),
      observed: proxyCodes.map(({ status, code }) =>
        failed({ code, status, retryable: code === 'unavailable' }),
      ),
    },
    {
      name: 'a server that does not finish its answer causes a timeout',
      answers: () => [() => undefined, (response) => void response.writeHead(200).write('{"keys"')],
      steps: [call('ListKeys', {}, { timeoutMs: 100 }), call('ListKeys', {}, { timeoutMs: 100 })],
      observed: repeat(failed({ code: 'unavailable', status: 0, retryable: true }), 2),
    },
    {
      name: 'a missing or malformed URL is refused at once',
      answers: () => [],
      steps: [null, '', '127.0.0.1:8080', 'ftp://127.0.0.1', 'http://', 'earshot.example.com'].map((url) => ({
        do: 'connect',
        url,
      })),
      observed: repeat({ mistake: expect.stringMatching(/must be the URL of the server/) }, 6),
    },
  ];
}
