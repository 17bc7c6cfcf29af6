/** Examples of the operations on webhooks: see examples.ts. */
const id = 'whk_01kb2n0a4c7q5t8w3y6z1v0n2p';
const created_at = '2026-11-14T22:46:00.000Z';

const webhook = {
  id,
  name: 'alerts',
  url: 'https://hooks.example.com/earshot',
  rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
  platform: null,
  state: 'active',
  disabled_because: null,
  failing_since: null,
  next_attempt_at: null,
  created_at,
  updated_at: created_at,
} as const;

const attempt = { outcome: 'delivered', status: 204, latency_ms: 82, detail: null, response: '' } as const;

export const webhookExamples = {
  createWebhook: {
    request: { name: webhook.name, url: webhook.url, rule_id: webhook.rule_id },
    answer: { webhook_id: id, secret: 'whsec_…', created_at },
  },
  listWebhooks: { request: {}, answer: { webhooks: [webhook] } },
  updateWebhook: {
    request: { webhook_id: id, state: 'paused' },
    answer: { ...webhook, state: 'paused', updated_at: '2026-11-15T08:00:00.000Z' },
  },
  deleteWebhook: {
    request: { webhook_id: id },
    answer: { webhook_id: id, deleted_at: '2026-11-15T08:00:00.000Z' },
  },
  rotateWebhookSecret: {
    request: { webhook_id: id },
    answer: { webhook_id: id, secret: 'whsec_…', previous_valid_until: '2026-11-16T08:00:00.000Z' },
  },
  testWebhook: { request: { webhook_id: id }, answer: { webhook_id: id, ...attempt } },
  listDeliveries: {
    request: { webhook_id: id, limit: 50 },
    answer: {
      deliveries: [
        {
          id: 'dlv_01kb2n0a4c7q5t8w3y6z1v0n2p',
          at: '2026-11-14T22:47:00.000Z',
          message_id: 'msg_7rQ2mXk0bT4n9wYc1sVfZg',
          attempt: 1,
          match_count: 2,
          first_match_id: 'mat_0000000002rs',
          last_match_id: 'mat_0000000002rt',
          ...attempt,
        },
      ],
      next_cursor: null,
    },
  },
  replayWebhook: {
    request: { webhook_id: id, since: '2026-11-14T00:00:00.000Z' },
    answer: { webhook_id: id, from_match_id: 'mat_0000000002rs' },
  },
} as const;
