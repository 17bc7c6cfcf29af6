import type { Answers } from '@earshot/sdk';
import { ruleIds } from './rules.ts';
import { ago, ahead } from './time.ts';

type Webhook = Answers['ListWebhooks']['webhooks'][number];
type Delivery = Answers['ListDeliveries']['deliveries'][number];

export const webhookId = 'whk_01kb2n0a4c7q5t8w3y6z1v0n2p';

const webhook = (id: string, differs: Partial<Webhook>): Webhook => ({
  id,
  name: 'alerts',
  url: 'https://hooks.example.com/earshot',
  format: 'standard',
  window_seconds: 1,
  max_matches: 100,
  rule_ids: null,
  platform: null,
  relevance: 'all',
  group: null,
  events: ['matches', 'notices'],
  state: 'active',
  reason: null,
  failing_since: null,
  next_attempt_at: null,
  created_at: ago(6, 'day'),
  updated_at: ago(6, 'day'),
  ...differs,
});

export const webhooks: readonly Webhook[] = [
  webhook(webhookId, {
    rule_ids: [ruleIds.release],
    platform: 'x',
    events: ['matches'],
    failing_since: ago(22, 'minute'),
    next_attempt_at: ahead(4, 'minute'),
  }),
  webhook('whk_01kb2n0a4c7q5t8w3y6z1v0n3p', {
    name: 'warehouse',
    url: 'https://ingest.example.com/v1/streams/earshot/production?tenant=acme',
  }),
  webhook('whk_01kb2n0a4c7q5t8w3y6z1v0n4p', {
    name: 'chat',
    url: 'https://hooks.slack.com/…',
    format: 'slack',
    window_seconds: 60,
    state: 'disabled',
    reason: 'gone',
  }),
];

const delivery = (id: number, differs: Partial<Delivery>): Delivery => ({
  id: `dlv_01kb2n0a4c7q5t8w3y6z1v0n${id}p`,
  created_at: ago(id * 9, 'minute'),
  last_at: ago(id * 9, 'minute'),
  times: 1,
  message_id: `msg_01kb2n0a4c7q5t8w3y6z1v0n${id}`,
  attempt: 1,
  match_count: 12,
  first_match_id: 'mat_01kb2mj3s6d9f2g5h8k1m4n7q0',
  last_match_id: 'mat_01kb2mj3s6d9f2g5h8k1m4n7zz',
  outcome: 'delivered',
  status: 204,
  latency_ms: 82,
  message: null,
  response: '',
  ...differs,
});

const failed = {
  message_id: 'msg_01kb2n0a4c7q5t8w3y6z1v0n1',
  outcome: 'failed',
  status: 503,
  latency_ms: 1_204,
  response: 'upstream connect error <script>alert(1)</script>',
} as const;

const parked = delivery(6, {
  created_at: ago(1, 'hour'),
  message_id: null,
  attempt: null,
  match_count: 1,
  last_match_id: 'mat_01kb2mj3s6d9f2g5h8k1m4n7q0',
  outcome: 'parked',
  status: 422,
  latency_ms: null,
  response: null,
});

export function deliveriesOf(outcome: Delivery['outcome'] | undefined): readonly Delivery[] {
  const all = [
    delivery(1, { ...failed, attempt: 3, times: 7, last_at: ago(1, 'minute') }),
    delivery(2, { ...failed, attempt: 2 }),
    delivery(3, {}),
    delivery(4, { match_count: 1, last_match_id: 'mat_01kb2mj3s6d9f2g5h8k1m4n7q0', latency_ms: 64 }),
    delivery(5, {
      match_count: 0,
      first_match_id: null,
      last_match_id: null,
      notice_id: 'ntc_01kb2n0a4c7q5t8w3y6z1v0n2p',
    }),
    parked,
  ];
  return outcome === undefined ? all : all.filter((one) => one.outcome === outcome);
}
