import { expect, test } from 'vitest';
import {
  attemptMeaning,
  attemptNumbers,
  type Delivery,
  messagesOf,
} from '../src/screens/webhooks/deliveries.ts';

const delivery = (id: string, message_id: string | null, outcome: Delivery['outcome']): Delivery => ({
  id,
  created_at: '2026-11-14T00:00:00.000Z',
  message_id,
  attempt: message_id === null ? null : 1,
  match_count: 1,
  first_match_id: 'mat_1',
  last_match_id: 'mat_1',
  outcome,
  status: null,
  latency_ms: null,
  message: null,
  response: null,
  times: 1,
  last_at: '2026-11-14T00:00:00.000Z',
});

test('groups the attempts of a message under the latest one, and lists a parked match alone', () => {
  const messages = messagesOf([
    delivery('dlv_4', 'msg_b', 'delivered'),
    delivery('dlv_3', null, 'parked'),
    delivery('dlv_2', 'msg_a', 'failed'),
    delivery('dlv_1', 'msg_b', 'failed'),
  ]);
  expect(messages.map(({ id, latest, attempts }) => [id, latest.outcome, attempts.length])).toEqual([
    ['msg_b', 'delivered', 2],
    ['dlv_3', 'parked', 1],
    ['msg_a', 'failed', 1],
  ]);
});

test('an attempt is described by its answer, and a failed test is not said to be retried', () => {
  const failed = { outcome: 'failed', status: 500 } as const;
  expect(attemptMeaning(failed)).toBe('The endpoint answered 500. Earshot retries automatically.');
  expect(attemptMeaning(failed, { isTest: true })).toBe('The endpoint answered 500.');
  expect(attemptMeaning({ outcome: 'failed', status: null }, { isTest: true })).toBe(
    'The endpoint did not answer.',
  );
  expect(attemptMeaning({ outcome: 'gone', status: 410 }, { isTest: true })).not.toMatch('disabled');
});

test('repeated attempts are numbered from the first to the last', () => {
  expect(attemptNumbers({ attempt: 3, times: 27, outcome: 'failed' })).toBe('3 to 29');
  expect(attemptNumbers({ attempt: 3, times: 1, outcome: 'failed' })).toBe('3');
  expect(attemptNumbers({ attempt: null, times: 1, outcome: 'parked' })).toBe('–');
  expect(attemptNumbers({ attempt: 1, times: 27, outcome: 'delivered' })).toBe('27 messages');
});
