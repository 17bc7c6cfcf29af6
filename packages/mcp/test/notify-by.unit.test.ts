import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';

const secretUrl = 'https://hooks.example.com/secret-path';
const { answer: rule } = operations.GetRule.example;
const { answer: exampleWebhook } = operations.UpdateWebhook.example;
const { answer: exampleDigest } = operations.UpdateDigest.example;
const webhook = { ...exampleWebhook, state: 'active', url: secretUrl, rule_ids: ['rule_1'] };
const webhooks = [
  { ...webhook, id: 'whk_1', name: 'alerts' },
  { ...webhook, id: 'whk_2', name: 'everything', rule_ids: null },
  { ...webhook, id: 'whk_3', name: 'paused', state: 'paused', platform: 'x' },
  { ...webhook, id: 'whk_4', name: 'failing', failing_since: '2026-11-14T22:46:00.000Z' },
  { ...webhook, id: 'whk_5', name: 'notices', events: ['notices'] },
  { ...webhook, id: 'whk_6', name: `n8n ${secretUrl}` },
  { ...webhook, id: 'whk_7', name: 'both' },
];
const mails = { recipients: { email: ['secret@example.com'] } };
const digests = [
  { ...exampleDigest, ...mails, id: 'dig_1', name: 'morning', rule_ids: ['rule_1'] },
  { ...exampleDigest, ...mails, id: 'dig_2', name: 'both', rule_ids: ['rule_1'] },
];

/** Calls the tool against an API with these destinations, one per page. */
async function notifyBy(destination: string, rule_id = 'rule_2', listed = { webhooks, digests }) {
  const sent: object[] = [];
  await using server = await connectInProcess(async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const body = JSON.parse(typeof init?.body === 'string' ? init.body : '{}');
    const page = Number(body.cursor ?? 0);
    const pageOf = (all: readonly object[]) => ({
      shown: all.slice(page, page + 1),
      next_cursor: page + 1 < all.length ? String(page + 1) : null,
    });
    if (pathname === '/api.ListWebhooks') {
      const { shown, next_cursor } = pageOf(listed.webhooks);
      return jsonAnswer({ webhooks: shown, next_cursor });
    }
    if (pathname === '/api.ListDigests') {
      const { shown, next_cursor } = pageOf(listed.digests);
      return jsonAnswer({ digests: shown, next_cursor });
    }
    if (pathname === '/api.GetRule') return jsonAnswer({ ...rule, name: 'Cats' });
    sent.push({ pathname, ...body });
    const found = [...listed.webhooks, ...listed.digests].find(({ id }) =>
      [body.webhook_id, body.digest_id].includes(id),
    );
    return jsonAnswer({ ...found, rule_ids: body.rule_ids });
  });
  const result = await server.client.callTool({ name: 'notify_by', arguments: { rule_id, destination } });
  expect(JSON.stringify(result)).not.toContain('secret');
  const [block] = result.content;
  return { sent, text: block?.type === 'text' ? block.text : '', isError: result.isError ?? false };
}

const toWebhook = (webhook_id: string) => ({
  pathname: '/api.UpdateWebhook',
  webhook_id,
  rule_ids: ['rule_1', 'rule_2'],
});
const nextAt = exampleDigest.next_at;

test.each([
  ['alerts', toWebhook('whk_1'), 'Matches of "Cats" are posted to webhook "alerts" from now on.'],
  ['whk_1', toWebhook('whk_1'), 'Matches of "Cats" are posted to webhook "alerts" from now on.'],
  [
    'paused',
    toWebhook('whk_3'),
    'Matches of "Cats" on x wait: webhook "paused" is paused until your user enables it.',
  ],
  [
    'failing',
    toWebhook('whk_4'),
    'Matches of "Cats" wait: webhook "failing" has been failing since 2026-11-14T22:46:00.000Z.',
  ],
  ['n8n …', toWebhook('whk_6'), 'Matches of "Cats" are posted to webhook "n8n …" from now on.'],
  [
    'morning',
    { pathname: '/api.UpdateDigest', digest_id: 'dig_1', rule_ids: ['rule_1', 'rule_2'] },
    `Matches of "Cats" are in the messages of digest "morning". The next one is due at ${nextAt}.`,
  ],
])(
  'notify_by adds the rule to %s with nothing but the rules, and says what will happen',
  async (name, request, text) => {
    expect(await notifyBy(name)).toEqual({ sent: [request], text, isError: false });
  },
);

test.each([
  ['alerts', 'rule_1', 'Nothing changed. Matches of "Cats" are posted to webhook "alerts".'],
  [
    'everything',
    'rule_2',
    'Nothing changed: it has every rule. Matches of "Cats" are posted to webhook "everything".',
  ],
])('notify_by changes nothing if %s has %s', async (name, ruleId, text) => {
  expect(await notifyBy(name, ruleId)).toEqual({ sent: [], text, isError: false });
});

test.each([
  ['unknown', /There are: webhook "alerts", .*webhook "n8n …", .*digest "morning", digest "both"\./],
  ['both', /Several have this name. Use an id: whk_7, dig_2\./],
  ['notices', /webhook "notices" sends only notices/],
])('notify_by refuses %s', async (name, message) => {
  const { sent, text, isError } = await notifyBy(name);
  expect({ sent, isError }).toEqual({ sent: [], isError: true });
  expect(text).toMatch(message);
});

test('notify_by asks for a destination if there is none', async () => {
  const { text } = await notifyBy('alerts', 'rule_2', { webhooks: [], digests: [] });
  expect(text).toContain('no webhook and no digest. Ask your user to make one.');
});
