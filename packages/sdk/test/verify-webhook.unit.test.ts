import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../src/index.ts';

// `scenarios.unit.test.ts` has what every SDK refuses.
const secret = `whsec_${randomBytes(24).toString('base64')}`;
const body = JSON.stringify({ type: 'test', webhook_id: 'whk_é' });
const sentAt = new Date('2026-11-15T06:00:00Z');
const now = sentAt.getTime();
const headers = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(now / 1_000),
  'webhook-signature': new Webhook(secret).sign('msg_1', sentAt, body),
};
test('verifies messages of the Standard Webhooks library, in any form', async () => {
  const expected = { id: 'msg_1', message: { type: 'test', webhook_id: 'whk_é' } };
  expect(await verifyWebhook({ secret, headers, body, now })).toEqual(expected);
  const inHeaders = new Headers(headers);
  expect(await verifyWebhook({ secret, headers: inHeaders, body: Buffer.from(body), now })).toEqual(expected);
});
