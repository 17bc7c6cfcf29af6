import { describe, expect, test } from 'vitest';
import { operations, violationsOf } from '../src/index.ts';

const request = { name: 'a', schedule: { window_seconds: 60 }, recipients: { email: ['team@example.com'] } };

function fieldsOf(asked: object): string[] {
  const parsed = operations.CreateDigest.request.safeParse(asked);
  return parsed.success ? [] : violationsOf(parsed.error).map(({ field }) => field);
}

test.each(['a@example.com', "o'neil+x@mail.example.co.uk", 'A_B.c@x-y.example'])(
  '%s is an address',
  (address) => {
    expect(fieldsOf({ ...request, recipients: { email: [address] } })).toEqual([]);
  },
);

describe('an address is one address and nothing else', () => {
  test.each([
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com\n',
    'a@example.com,b@example.com',
    'a@example.com b@example.com',
    'Team <a@example.com>',
    '"a b"@example.com',
    'a@example.com(comment)',
    'a@[127.0.0.1]',
    'a@localhost',
    'a@exämple.com',
    '@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b.'.repeat(130)}example.com`,
  ])('%j is refused', (address) => {
    expect(fieldsOf({ ...request, recipients: { email: [address] } })).toContain('recipients.email[0]');
  });

  test('and there are ten at most', () => {
    const many = Array.from({ length: 11 }, (_, index) => `a${index}@example.com`);
    expect(fieldsOf({ ...request, recipients: { email: many.slice(1) } })).toEqual([]);
    expect(fieldsOf({ ...request, recipients: { email: many } })).toEqual(['recipients.email']);
  });
});
