import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { messageIdOf } from './message.ts';
import { formatSecret, signedHeaders } from './secrets.ts';

const secret = formatSecret(randomBytes(32));
const other = formatSecret(randomBytes(32));
const message = { id: 'msg_1', body: '{"type":"matches","text":"Grüße, 世界 \\ud83d"}' };

function verifies(by: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(by).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

describe('a signature', () => {
  test('is accepted by the published library for any body', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (body) => {
        expect(verifies(secret, body, signedHeaders({ id: 'msg_1', body }, [secret], Date.now()))).toBe(true);
      }),
    );
  });

  test('of both secrets is in one header, and either is enough', () => {
    const headers = signedHeaders(message, [other, secret], Date.now());
    expect(verifies(secret, message.body, headers)).toBe(true);
    expect(verifies(other, message.body, headers)).toBe(true);
    expect(verifies(formatSecret(randomBytes(32)), message.body, headers)).toBe(false);
  });

  test('is refused with another body, id or time, and if it is old', () => {
    const headers = signedHeaders(message, [secret], Date.now());
    expect(verifies(secret, message.body, headers)).toBe(true);
    expect(verifies(secret, `${message.body} `, headers)).toBe(false);
    expect(verifies(secret, message.body, { ...headers, 'webhook-id': 'msg_2' })).toBe(false);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(verifies(secret, message.body, { ...headers, 'webhook-timestamp': later })).toBe(false);
    const old = signedHeaders(message, [secret], Date.now() - 6 * 60_000);
    expect(verifies(secret, message.body, old)).toBe(false);
  });
});

test('an id is the same for the same message, differs for any other, and has no dot', () => {
  const batch = { webhookId: 'whk_1', epoch: 0, firstPosition: 1, lastPosition: 2, body: '{}' };
  const others = [
    { ...batch, webhookId: 'whk_2' },
    { ...batch, epoch: 1 },
    { ...batch, firstPosition: 2 },
    { ...batch, lastPosition: 3 },
    { ...batch, body: '{ }' },
  ];
  const ids = [batch, ...others].map(messageIdOf);
  expect(messageIdOf({ ...batch })).toBe(ids[0]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids[0]).toMatch(/^msg_[\w-]{22}$/);
});
