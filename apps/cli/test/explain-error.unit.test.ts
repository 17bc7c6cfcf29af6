import { readFile } from 'node:fs/promises';
import { EarshotError } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { endingOf, errorAsJson, explainError } from '../src/explain-error.ts';
import { exitCodes, Failure } from '../src/failure.ts';
import { version } from '../src/version.ts';

const codeOf = (error: unknown) => exitCodes[endingOf(error)].code;

test('each kind of error has its exit code', () => {
  const answered = (code: EarshotError['code'], fields = {}) =>
    codeOf(new EarshotError('', { code, ...fields }));
  expect(answered('not_found')).toBe(3);
  expect(answered('unauthenticated')).toBe(4);
  expect(answered('permission_denied')).toBe(4);
  expect(answered('invalid_argument')).toBe(5);
  expect(answered('unavailable')).toBe(6);
  expect(answered('internal')).toBe(1);
  expect(codeOf(new Failure('usage', ''))).toBe(2);
  expect(codeOf(new Error('a bug'))).toBe(1);
});

test('a rate limit is temporary, and a plan limit is not', () => {
  const limit = (fields: object) => codeOf(new EarshotError('', { code: 'resource_exhausted', ...fields }));
  expect(limit({ retryAfterMs: 1_000, details: { limit: 600, used: 600 } })).toBe(6);
  expect(limit({ retryAfterMs: 900_000, details: { reason: 'rate_limit', platform: 'x' } })).toBe(6);
  expect(limit({ details: { reason: 'plan_limit', limit: 25, used: 25, platform: 'x' } })).toBe(4);
  expect(limit({ details: { reason: 'plan_limit', limit: 10, used: 10 } })).toBe(4);
});

test('a violation names the option and quotes its value', () => {
  const violations = [
    { field: 'overrides.x', code: 'c', message: 'Wrong.', span: { start: 0, end: 3 } },
    { field: 'expires_at', code: 'd', message: 'Too early.' },
    { field: 'odd', code: 'e', message: 'Strange.' },
  ];
  const error = new EarshotError('', { code: 'invalid_argument', details: { violations } });
  const text = explainError(error, { x: 'AND a', expires: '2020-01-01' }, 80);
  expect(text.split('\n')).toEqual([
    '  --x  AND a',
    '       ^^^',
    'error: Wrong. [c]',
    '--expires: error: Too early. [d]',
    'odd: error: Strange. [e]',
  ]);
});

test('programs get the error of the API unchanged, and local errors in the same form', () => {
  const details = { request_id: 'req_1' };
  const error = new EarshotError('Gone.', { code: 'not_found', details });
  expect(JSON.parse(errorAsJson(error))).toEqual({ code: 'not_found', message: 'Gone.', details });
  expect(JSON.parse(errorAsJson(new Failure('usage', 'No.')))).toEqual({
    code: 'usage',
    message: 'No.',
    details: {},
  });
});

test('an unreachable server is explained with its cause', () => {
  const refused = new Error('fetch failed', {
    cause: new AggregateError([new Error('connect ECONNREFUSED ::1:1')]),
  });
  const error = new EarshotError('Earshot could not be reached.', { code: 'unavailable', cause: refused });
  expect(explainError(error, {}, 80)).toBe(
    'Earshot could not be reached.\nCause: connect ECONNREFUSED ::1:1',
  );
});

test('control characters of a platform are escaped', () => {
  const error = new EarshotError('"x" refused it: \u001b[2Jno\u202e', { code: 'failed_precondition' });
  expect(explainError(error, {}, 80)).toBe('"x" refused it: [2Jno ');
});

test('the version is that of the package', async () => {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(manifest).version).toBe(version);
});
