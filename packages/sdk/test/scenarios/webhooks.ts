import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { repeat, type Scenario, type Step } from './scenario.ts';

export function webhookScenarios(): Scenario[] {
  const secretBytes = Buffer.from('a secret of 24 bytes!!!!');
  const secret = `whsec_${secretBytes.toString('base64')}`;
  const body = '{"type": "test", "webhook_id": "whk_é"}';
  const nowSeconds = 1_794_696_420;
  const sign = (content: string, key = secretBytes) =>
    `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  const signature = sign(`msg_1.${nowSeconds}.${body}`);
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': signature,
  };
  const verify = (change: object): Step => ({
    do: 'verify',
    secret,
    headers,
    body,
    nowSeconds,
    ...change,
  });
  const genuine = { verified: 'msg_1', message: { type: 'test', webhook_id: 'whk_é' } };
  const unverified = (message: string) => ({ unverified: expect.stringContaining(message) });
  const several = `v1a,AAAA v1,not-base64! ${sign('other')} ${signature}`;
  return [
    {
      name: 'a webhook message is verified by one valid signature',
      answers: () => [],
      steps: [
        verify({}),
        verify({
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
          ),
        }),
        verify({ headers: { ...headers, 'webhook-signature': several } }),
        verify({ nowSeconds: nowSeconds - 300 }),
        verify({ nowSeconds: nowSeconds + 300 }),
      ],
      observed: repeat(genuine, 5),
    },
    {
      name: 'a forged webhook message is refused',
      answers: () => [],
      steps: [
        verify({ body: `${body} ` }),
        verify({ secret: `whsec_${Buffer.from('another').toString('base64')}` }),
        verify({ headers: { ...headers, 'webhook-id': 'msg_2' } }),
        verify({ headers: { ...headers, 'webhook-timestamp': String(nowSeconds + 1) } }),
        verify({ headers: { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') } }),
        verify({ headers: { ...headers, 'webhook-signature': `${signature.slice(0, 20)}==` } }),
        verify({ headers: { ...headers, 'webhook-signature': 'v1,é' } }),
      ],
      observed: repeat(unverified('No signature fits the secret.'), 7),
    },
    {
      name: 'an old webhook message is refused, and one without its headers',
      answers: () => [],
      steps: [
        verify({ nowSeconds: nowSeconds + 301 }),
        verify({ nowSeconds: nowSeconds - 301 }),
        verify({ headers: { ...headers, 'webhook-timestamp': `${nowSeconds}x` } }),
        verify({ headers: {} }),
      ],
      observed: [
        unverified('5 minutes'),
        unverified('5 minutes'),
        unverified('not a number'),
        unverified('The header webhook-id is missing.'),
      ],
    },
    {
      name: 'a parsed body is refused with the reason, and an invalid secret',
      answers: () => [],
      steps: [verify({ isParsed: true }), verify({ secret: 'whsec_' })],
      observed: [unverified('raw bytes'), { mistake: expect.stringContaining('whsec_') }],
    },
  ];
}
