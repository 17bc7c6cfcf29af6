import { isDeepStrictEqual } from 'node:util';
import type { ChatFormat, Match } from '@earshot/contract';
import { unseenIn } from '@earshot/mcp/injections';
import { type ChatBatch, chatItemOf } from '../src/webhooks/formats/chat-content.ts';
import { render } from '../src/webhooks/formats/render.ts';

/** A match with these untrusted words in every field with text. */
export function untrustedMatch(number: number, words: string, url: string | null = null): Match {
  return {
    id: `mat_${number.toString(36).padStart(12, '0')}`,
    rule_id: 'rule_1',
    rule_version: 1,
    created_at: '2026-11-14T22:46:00.000Z',
    platform: 'x',
    platform_post_id: String(number),
    via: 'stream',
    payload: {
      url,
      title: words,
      text: words,
      author: { id: '42', name: words, handle: words },
      published_at: null,
      language: null,
      raw: {},
    },
    why: {
      verdict: 'match',
      confidence: 'exact',
      evidence: [
        {
          rule_span: { start: 0, end: 1 },
          field: 'keyword',
          path: 'data.text',
          text_span: null,
          text: words,
        },
      ],
      undecided: [],
    },
  };
}

export function chatBody(
  matches: readonly Match[],
  counted: Partial<ChatBatch> = {},
  ruleName = 'Launches',
): string {
  const items = matches.map((match) => chatItemOf(match, ruleName));
  const batch: ChatBatch = { type: 'matches', webhook_id: 'whk_1', matches: items, more: 0, removals: 0 };
  return JSON.stringify({ ...batch, ...counted });
}

export function messageOf(format: ChatFormat, body: string, consoleUrl: string | null = null): object {
  return JSON.parse(render(format, { messageId: 'msg_1', body }, consoleUrl).body);
}

type Json = Readonly<Record<string, unknown>>;

function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield Object(value);
  for (const one of Object.values(value)) yield* objectsIn(one);
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) yield* stringsIn(one);
}

/** What a chat renders as text without any markup. */
const isLiteral: Readonly<Record<ChatFormat, (one: Json) => boolean>> = {
  slack: (one) => one['type'] === 'text',
  discord: () => false,
  teams: (one) => one['type'] === 'TextRun',
};

/** The message without the texts in which only letters are rendered. */
function withoutLiterals(format: ChatFormat, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => withoutLiterals(format, one));
  const entries = Object.entries(value).map(([name, one]) => [name, withoutLiterals(format, one)]);
  return { ...Object.fromEntries(entries), ...(isLiteral[format](Object(value)) && { text: '' }) };
}

/** Discord: a backslash takes the meaning from any punctuation behind it. */
const withoutEscapes = (text: string) => text.replace(/\\[^0-9A-Za-z\s]/g, '');

/** The remaining punctuation with a meaning. */
const markupOf = (text: string) => withoutEscapes(text).replace(/[^!-/:-@[-`{-~\n]/g, '');

function structureOf(format: ChatFormat, message: object): unknown {
  const structure = withoutLiterals(format, message);
  if (format !== 'discord') return structure;
  return JSON.parse(JSON.stringify(structure), (name, value) =>
    name === 'description' ? markupOf(String(value)) : value,
  );
}

/** What each chat renders as a mention, a link, an invitation or a picture. */
const active: Readonly<Record<ChatFormat, RegExp>> = {
  slack: /<[@#!]|<\w+:|https?:\/\/|@(?:here|channel|everyone)/,
  discord: /<[@#:!/a-z]|@(?:here|everyone)|\]\(|\w+:\/\/|discord\.gg|[`~|_]|\[/i,
  teams: /<\/?at\b|\]\(/i,
};

/** Texts of a message that the chat interprets as its markup. */
function* markedTexts(format: ChatFormat, message: object): Generator<string> {
  for (const one of objectsIn(message)) {
    if (format === 'slack' && one['type'] === 'mrkdwn') yield String(one['text']);
    if (format === 'discord' && 'description' in one) yield withoutEscapes(String(one['description']));
    if (format === 'teams' && (one['type'] === 'TextRun' || one['type'] === 'TextBlock'))
      yield one['type'] === 'TextRun' ? String(one['text']).replaceAll('](', '') : String(one['text']);
  }
  if ('text' in message) yield String(message.text);
  if ('content' in message) yield withoutEscapes(String(message.content));
}

/**
 * Why a message is not harmless: it differs in more than letters from one with harmless content, it has markup that the chat
 * would interpret, or it has invisible characters.
 */
export function harmIn(format: ChatFormat, message: object, twin: object): string[] {
  const texts = [...markedTexts(format, message)].filter((text) => active[format].test(text));
  const unseen = [...stringsIn(message)].filter((text) => unseenIn(text) !== undefined);
  return [
    ...texts.map((text) => `read as markup: ${text}`),
    ...unseen.map((text) => `unseen: ${JSON.stringify(text)}`),
    ...(isDeepStrictEqual(structureOf(format, message), structureOf(format, twin))
      ? []
      : ['another structure']),
  ];
}

/** The targets of a message's links. */
export function linksIn(message: object): string[] {
  return [...objectsIn(message)].flatMap((one) => (typeof one['url'] === 'string' ? [one['url']] : []));
}
