import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../src/index.ts';

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const secret = newSecret();
const body = JSON.stringify({ type: 'test', webhook_id: 'whk_é' });
const sentAt = new Date('2026-11-15T06:00:00Z');
const now = sentAt.getTime();
const sign = (by: string, content = body) => new Webhook(by).sign('msg_1', sentAt, content);
const headers = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(now / 1_000),
  'webhook-signature': sign(secret),
};
const expectRefused = (change: Partial<Parameters<typeof verifyWebhook>[0]>) =>
  expect(verifyWebhook({ secret, headers, body, now, ...change })).rejects.toBeInstanceOf(
    WebhookVerificationError,
  );

test('verifies messages of the Standard Webhooks library, in any form', async () => {
  const expected = { id: 'msg_1', message: { type: 'test', webhook_id: 'whk_é' } };
  expect(await verifyWebhook({ secret, headers, body, now })).toEqual(expected);
  const inHeaders = new Headers(headers);
  expect(await verifyWebhook({ secret, headers: inHeaders, body: Buffer.from(body), now })).toEqual(expected);
});

test('one valid signature among several is enough', async () => {
  const several = `v1a,AAAA v1,not-base64! ${sign(newSecret())} ${sign(secret)}`;
  const verified = await verifyWebhook({
    secret,
    headers: { ...headers, 'webhook-signature': several },
    body,
    now,
  });
  expect(verified.id).toBe('msg_1');
});

test.for(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('refuses a message without %s', (name) =>
  expectRefused({ headers: { ...headers, [name]: undefined } }),
);

test('refuses a message if any part of it was changed', async () => {
  await expectRefused({ body: `${body} ` });
  await expectRefused({ secret: newSecret() });
  await expectRefused({ headers: { ...headers, 'webhook-id': 'msg_2' } });
  await expectRefused({ headers: { ...headers, 'webhook-timestamp': String(now / 1_000 + 1) } });
  await expectRefused({ headers: { ...headers, 'webhook-timestamp': `${now / 1_000}x` } });
  await expectRefused({ headers: { ...headers, 'webhook-signature': sign(secret).replace('v1,', 'v2,') } });
  await expectRefused({ headers: { ...headers, 'webhook-signature': `${sign(secret).slice(0, 20)}==` } });
});

test('accepts messages up to 5 minutes before and after now', async () => {
  for (const aside of [-300_000, 300_000]) await verifyWebhook({ secret, headers, body, now: now + aside });
  for (const aside of [-300_001, 300_001]) await expectRefused({ now: now + aside });
});

test('an invalid secret throws a TypeError', async () => {
  await expect(verifyWebhook({ secret: 'whsec_', headers, body, now })).rejects.toThrow(TypeError);
});

test('refuses a body that was parsed already, and says what it needs', async () => {
  const parsed = JSON.parse(body);
  await expect(verifyWebhook({ secret, headers, body: parsed, now })).rejects.toThrow(/raw bytes/);
});
