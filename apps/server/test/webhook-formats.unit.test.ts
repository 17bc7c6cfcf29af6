import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChatFormat,
  isChatFormat,
  type Notice,
  operations,
  type WebhookFormat,
} from '@earshot/contract';
import { harmless } from '@earshot/mcp/injections';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { DigestContent } from '../src/digests/message-content.ts';
import { chatDigestOf } from '../src/digests/render-chat.ts';
import { asAnswerOfChat } from '../src/webhooks/endpoint-state.ts';
import { chatItemOf, chatItemsMax } from '../src/webhooks/formats/chat-content.ts';
import { render } from '../src/webhooks/formats/render.ts';
import { createBatchBody, noticeMessage, withoutMatches } from '../src/webhooks/message.ts';
import { shownUrl } from '../src/webhooks/webhooks.sql.ts';
import { chatBody, harmIn, linksIn, messageOf, untrustedMatch } from './read-chat.ts';

const chatFormats: readonly ChatFormat[] = ['slack', 'discord', 'teams'];
const formats: readonly WebhookFormat[] = ['cloudevents', ...chatFormats];
const consoleUrl = 'https://earshot.example.com/';

/** The violations of the published schema by a message. */
function problemsOf(format: WebhookFormat, message: unknown): unknown[] {
  const name = format === 'teams' ? 'adaptive-card' : format;
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, `webhook-schemas/${name}.json`), 'utf8'));
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  const parts = partsOf(format, message);
  return parts.flatMap((part) => (validate(part) ? [] : (validate.errors ?? [])));
}

/** The values that the schema describes: each event of a batch, the card in its envelope, or the whole message. */
function partsOf(format: WebhookFormat, message: unknown): unknown[] {
  if (format === 'cloudevents') return Array.isArray(message) ? message : [null];
  if (format !== 'teams') return [message];
  const { type, attachments } = Object(message);
  expect({ type, attachments: attachments.length }).toEqual({ type: 'message', attachments: 1 });
  expect(attachments[0].contentType).toBe('application/vnd.microsoft.card.adaptive');
  return [attachments[0].content];
}

const notice: Notice = {
  id: 'ntc_1',
  type: 'webhook.failing',
  severity: 'warning',
  subject: { kind: 'webhook', id: 'whk_2', name: '<!channel> [x](https://evil.example)' },
  data: {},
  what_to_do: 'Look at what the endpoint answers.',
  created_at: '2026-11-14T22:46:00.000Z',
  resolved_at: null,
};

const removal = {
  type: 'removed',
  match_id: 'mat_000000000001',
  reason: 'deleted',
  removed_at: '2026-11-14T22:47:00.000Z',
} as const;

function batchOf(format: WebhookFormat, count: number, words: string): string {
  const matches = Array.from({ length: count }, (_, n) =>
    untrustedMatch(n, words, `https://x.com/a/status/${n}`),
  );
  if (isChatFormat(format))
    return chatBody(matches.slice(0, chatItemsMax), { more: Math.max(0, count - chatItemsMax), removals: 2 });
  const body = createBatchBody('whk_1');
  for (const match of matches) body.add(match);
  body.addRemoval(removal);
  return body.text();
}

/** A digest message with these words in every field with text, and so many matches and rules. */
function digestOf(format: WebhookFormat, count: number, words: string): string {
  const matches = Array.from({ length: count }, (_, n) => ({
    id: `mat_${n}`,
    rule_id: `rule_${n}`,
    platform: 'x' as const,
    created_at: removal.removed_at,
    url: `https://x.com/a/status/${n}`,
    title: words,
    text: words,
    author: words,
    why: [words],
  }));
  const content: DigestContent = {
    digest_id: 'dig_1',
    name: words,
    number: 7,
    from: notice.created_at,
    to: removal.removed_at,
    time_zone: 'Europe/Berlin',
    total: count,
    total_is_minimum: false,
    matches,
    counts: matches.map(({ rule_id, platform }) => ({ rule_id, rule_name: words, platform, matches: 1 })),
    coverage: { without_gap: true, complete_through: removal.removed_at, gaps: [] },
  };
  const message = isChatFormat(format)
    ? chatDigestOf(content)
    : { type: 'digest', webhook_id: 'whk_1', ...content };
  return JSON.stringify(message);
}

const send = (format: WebhookFormat, body: string, from: string | null = null) =>
  JSON.parse(render(format, { messageId: 'msg_1', body }, from).body);

describe.each(formats)('a message in the format %s', (format) => {
  const messages = {
    'one match': batchOf(format, 1, 'words'),
    'more matches than fit': batchOf(format, 60, 'words '.repeat(2_000)),
    'matches that double when they are escaped': batchOf(format, 10, '*'.repeat(5_000)),
    'matches of three bytes for each character': batchOf(format, 10, '世'.repeat(5_000)),
    'matches of invisible characters only': batchOf(format, 10, '\u202e'.repeat(5_000)),
    removals: batchOf(format, 0, ''),
    'a notice': noticeMessage('whk_1', { position: 1, notice }).body,
    'a digest': digestOf(format, 3, 'words'),
    'a digest of more than fits': digestOf(format, 100, '*'.repeat(5_000)),
    'a test': JSON.stringify({ type: 'test', webhook_id: 'whk_1' }),
  };

  test.each(Object.entries(messages))('follows the schema: %s', (_what, body) => {
    expect(problemsOf(format, send(format, body))).toEqual([]);
    expect(problemsOf(format, send(format, body, consoleUrl))).toEqual([]);
  });
});

/** How many matches a message shows, and how many more it mentions. */
function shownAndCounted(format: ChatFormat, body: string): { shown: number; more: number } {
  const message = messageOf(format, body);
  const [, more = '0'] = /and ([\d,]+) more/.exec(JSON.stringify(message)) ?? [];
  return { shown: linksIn(message).length, more: Number(more.replaceAll(',', '')) };
}

describe.each(chatFormats)('a message for people, in %s', (format) => {
  test.each([
    ['words', 3, 3],
    ['words', 60, 10],
    ['*'.repeat(5_000), 60, 2],
    ['世'.repeat(5_000), 60, 2],
    ['😀'.repeat(5_000), 12_345, 2],
  ])('shows or counts every match: %.8s, %i of them', (words, count, shownMin) => {
    const { shown, more } = shownAndCounted(format, batchOf(format, count, words));
    expect(shown + more).toBe(count);
    expect(shown).toBeGreaterThanOrEqual(shownMin);
  });

  test('stays within the limits of the chat', () => {
    for (const words of ['*', '世', '😀', '\u202e', 'a']) {
      const message = messageOf(format, batchOf(format, 10, words.repeat(5_000)));
      if (format === 'teams') expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(28_000);
      if (format !== 'discord') continue;
      const { embeds, allowed_mentions } = Object(message);
      const lengths = embeds.map(
        (one: { title: string; description: string }) => one.title.length + one.description.length,
      );
      expect(lengths.reduce((sum: number, one: number) => sum + one, 0)).toBeLessThanOrEqual(6_000);
      expect(allowed_mentions).toEqual({ parse: [] });
    }
  });

  test('has the rule, platform, author, text, reason and link of each match', () => {
    const match = untrustedMatch(1, 'liftoff', 'https://x.com/a/status/1');
    const text = JSON.stringify(messageOf(format, chatBody([match]), consoleUrl));
    for (const part of ['Launches', 'X', 'liftoff', 'Why: liftoff', 'https://x.com/a/status/1', consoleUrl])
      expect(text).toContain(part);
  });

  test('has the content of a notice, and mentions removed matches', () => {
    const { body } = noticeMessage('whk_1', { position: 1, notice });
    const text = JSON.stringify(messageOf(format, body));
    for (const part of ['warning', 'webhook.failing', 'Look at what the endpoint answers'])
      expect(text).toContain(part);
    const named = (name: string) =>
      noticeMessage('whk_1', { position: 1, notice: { ...notice, subject: { ...notice.subject, name } } });
    const hostile = notice.subject.name;
    const [message, twin] = [hostile, harmless(hostile)].map((name) => messageOf(format, named(name).body));
    expect(harmIn(format, message ?? {}, twin ?? {})).toEqual([]);
    expect(JSON.stringify(messageOf(format, chatBody([], { removals: 1 })))).toContain('1 match was removed');
  });

  test('shows or counts every match of a digest, after its counts and coverage', () => {
    for (const words of ['words', '*'.repeat(5_000), '😀'.repeat(5_000)]) {
      const { shown, more } = shownAndCounted(format, digestOf(format, 100, words));
      expect(shown + more).toBe(100);
    }
    const text = JSON.stringify(messageOf(format, digestOf(format, 2, 'liftoff')));
    const parts = ['2 matches', 'liftoff, message 7', 'Complete, without a gap', 'https://x.com/a/status/0'];
    const places = parts.map((part) => text.replaceAll('\\', '').indexOf(part));
    expect(places).not.toContain(-1);
    if (format !== 'discord') expect(places).toEqual(places.toSorted((a, b) => a - b));
    const hostile = notice.subject.name;
    const [message, twin] = [hostile, harmless(hostile)].map((name) =>
      messageOf(format, digestOf(format, 2, name)),
    );
    expect(harmIn(format, message ?? {}, twin ?? {})).toEqual([]);
  });

  test('omits a match that is removed before it is sent', () => {
    const matches = [untrustedMatch(1, 'first'), untrustedMatch(2, 'second')];
    const left = withoutMatches(chatBody(matches, { more: 3, removals: 1 }), new Set(['mat_000000000001']));
    expect(left?.count).toBe(5);
    const text = JSON.stringify(messageOf(format, left?.body ?? ''));
    expect(text).not.toContain('first');
    expect(text).toContain('second');
    expect(withoutMatches(chatBody(matches.slice(0, 1)), new Set(['mat_000000000001']))).toBeNull();
  });
});

test('a text in a chat is on one line, short, and never ends within a character', () => {
  const shownOf = (text: string) => chatItemOf(untrustedMatch(1, text), 'rule').text;
  expect(shownOf(' first\r\n\n second\tthird ')).toBe('first / second third');
  expect(shownOf('😀'.repeat(401))).toBe(`${'😀'.repeat(400)}…`);
  expect(shownOf('😀'.repeat(400))).toBe('😀'.repeat(400));
  expect(shownOf('\u202e'.repeat(400))?.length).toBeLessThan(450);
  expect(shownOf(' \n ')).toBeNull();
});

test('a standard message is sent as it is stored', () => {
  const body = batchOf('standard', 2, 'words');
  expect(render('standard', { messageId: 'msg_1', body }, consoleUrl)).toEqual({
    contentType: 'application/json',
    body,
  });
});

test('a batch of CloudEvents has one event for each match and removal', () => {
  const events = send('cloudevents', batchOf('cloudevents', 2, 'words'));
  expect(events).toMatchObject([
    {
      specversion: '1.0',
      id: 'mat_000000000000',
      type: 'earshot.match',
      subject: 'rule_1',
      source: '/webhooks/whk_1',
    },
    { id: 'mat_000000000001', time: '2026-11-14T22:46:00.000Z', datacontenttype: 'application/json' },
    { id: 'mat_000000000001.removed', type: 'earshot.match.removed', data: removal },
  ]);
  expect(events[0].data).toEqual(untrustedMatch(0, 'words', 'https://x.com/a/status/0'));
  const { body } = noticeMessage('whk_1', { position: 1, notice });
  expect(send('cloudevents', body)).toMatchObject([{ type: 'earshot.notice', id: 'msg_1', data: notice }]);
  expect(send('cloudevents', digestOf('cloudevents', 1, 'words'))).toMatchObject([
    {
      type: 'earshot.digest',
      id: 'msg_1',
      subject: 'dig_1',
      time: removal.removed_at,
      data: { number: 7, total: 1 },
    },
  ]);
});

test('the URL of a chat is shown without its credential', () => {
  const url = 'https://hooks.slack.com/services/T0/B0/secret?token=1';
  for (const format of chatFormats) expect(shownUrl({ format, url })).toBe('https://hooks.slack.com/…');
  for (const format of ['standard', 'cloudevents'] as const) expect(shownUrl({ format, url })).toBe(url);
});

test('a chat that answers 401, 403 or 404 is gone; one that rate-limits is not', () => {
  const answered = (status: number, kind: 'refused' | 'delivered') =>
    asAnswerOfChat({ outcome: { kind }, status, latencyMs: 1, message: null, response: null }).outcome.kind;
  expect([401, 403, 404].map((status) => answered(status, 'refused'))).toEqual(['gone', 'gone', 'gone']);
  expect(answered(400, 'refused')).toBe('refused');
  expect(answered(204, 'delivered')).toBe('delivered');
  const limited = { outcome: { kind: 'failed', retryAfterMs: 1_000 }, status: 429 } as const;
  expect(asAnswerOfChat({ ...limited, latencyMs: 1, message: null, response: null }).outcome).toEqual(
    limited.outcome,
  );
});

test('the example of CloudEvents in docs/webhooks.md is what is sent', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
  const [match] = operations.ListMatches.answer.parse(operations.ListMatches.example.answer).matches;
  const [, example = '[]'] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const events: { id: string; source: string }[] = JSON.parse(example);
  expect(problemsOf('cloudevents', events)).toEqual([]);
  const [{ id, source } = { id: '', source: '' }] = events;
  const body = createBatchBody(source.slice('/webhooks/'.length));
  if (match) body.add({ ...match, id });
  expect(send('cloudevents', body.text())).toMatchObject(events);
});
