import { describe, expect, test } from 'vitest';
import { operations, violationsOf } from '../src/index.ts';

const request = { name: 'a', schedule: { window_seconds: 60 }, recipients: { email: ['team@example.com'] } };

function fieldsOf(sent: object): string[] {
  const parsed = operations.CreateDigest.request.safeParse(sent);
  return parsed.success ? [] : violationsOf(parsed.error).map(({ field }) => field);
}

test.each(['a@example.com', "o'neil+x@mail.example.co.uk", 'A_B.c@x-y.example'])(
  'accepts the address %s',
  (address) => {
    expect(fieldsOf({ ...request, recipients: { email: [address] } })).toEqual([]);
  },
);

describe('recipients', () => {
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
    'a%other.example@example.com',
    'other.example!a@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b.'.repeat(130)}example.com`,
  ])('refuse %j', (address) => {
    expect(fieldsOf({ ...request, recipients: { email: [address] } })).toContain('recipients.email[0]');
  });

  test('have at most 10 addresses', () => {
    const many = Array.from({ length: 11 }, (_, index) => `a${index}@example.com`);
    expect(fieldsOf({ ...request, recipients: { email: many.slice(1) } })).toEqual([]);
    expect(fieldsOf({ ...request, recipients: { email: many } })).toEqual(['recipients.email']);
  });
});
