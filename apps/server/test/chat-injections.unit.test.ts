import type { ChatFormat } from '@earshot/contract';
import { harmless, injections } from '@earshot/mcp/injections';
import { describe, expect, test, vi } from 'vitest';
import { chatBody, harmIn, linksIn, messageOf, untrustedMatch } from './read-chat.ts';

const formats: readonly ChatFormat[] = ['slack', 'discord', 'teams'];

/** Texts for chats, in addition to those of the MCP server. */
const forChats = [
  '<!channel> look',
  '<!here|here>',
  '<!subteam^S123>',
  '<@U123ABC>',
  '<#C123|general>',
  '<https://evil.example|your bank>',
  '<mailto:a@evil.example|write>',
  'https://evil.example/login',
  ':rotating_light: :smile:',
  '@everyone @here',
  '<@123456789012345678> <@&1> <#2> </run:3> <:x:4>',
  '[your bank](https://evil.example)',
  '[x](<https://evil.example> "title")',
  '![picture](https://evil.example/p.png)',
  'discord.gg/invite https://discord.gg/invite',
  '```\nbreak out\n```',
  '`code` ~~gone~~ ||spoiler|| __under__ *bold* _it_',
  '> quoted\n>>> all\n# Heading\n-# small\n- list\n1. one',
  '\\*not escaped\\* \\\\',
  'a | b\n|---|---|\n| c | d |',
  'first\r\nsecond\rthird\u2028fourth\u2029fifth\u0085sixth',
  '\u202egnp.exe\u202c \u2066x\u2069',
  '<at>Everyone</at> <at id="0">x</at>',
  '&lt;!channel&gt; &#60;at&#62;',
  '"}],"blocks":[{"type":"section"}]',
];
const corpus = [
  ...injections('206149371385039274660184537102938475610'),
  ...forChats.map((text) => ({ family: 'written for chats', text })),
];

const everywhere = (words: string) => [
  untrustedMatch(1, words),
  untrustedMatch(2, words, 'https://x.com/a/status/2'),
];

describe.each(formats)('in a message for %s', { timeout: 60_000 }, (format) => {
  const rendered = (words: string) => messageOf(format, chatBody(everywhere(words), { more: 1 }, words));

  test.each(corpus)('%# untrusted content cannot mention, link or leave its place: $family', ({ text }) => {
    expect(harmIn(format, rendered(text), rendered(harmless(text)))).toEqual([]);
  });

  test.each(corpus)('%# an address leads to the web or nowhere: $family', ({ text }) => {
    for (const url of [text, `https://pages.example/?q=${text}`, `javascript:${text}`]) {
      const message = messageOf(format, chatBody([untrustedMatch(1, 'words', url)]));
      const expected = URL.parse(url);
      const isWeb = expected !== null && /^https?:$/.test(expected.protocol) && expected.href.length <= 2_000;
      const hasUser = expected !== null && expected.username + expected.password !== '';
      expect(linksIn(message)).toEqual(isWeb && !hasUser ? [expected.href] : []);
    }
  });
});

test('the corpus has the texts of the MCP server and some for chats', () => {
  expect(new Set(corpus.map(({ text }) => text)).size).toBeGreaterThanOrEqual(202 + forChats.length);
});

describe('control: the checks find', { timeout: 60_000 }, () => {
  const foundIn = (format: ChatFormat, spoil: (message: object) => object) =>
    corpus.filter(({ text }) => {
      const [message, twin] = [text, harmless(text)].map((words) =>
        spoil(messageOf(format, chatBody(everywhere(words), { more: 1 }, words))),
      );
      return harmIn(format, message ?? {}, twin ?? {}).length > 0;
    });
  const rewritten = (message: object, from: RegExp, to: string): object =>
    JSON.parse(JSON.stringify(message), (_name, value) =>
      typeof value === 'string' ? value.replace(from, to) : value,
    );

  test('in Slack, words in mrkdwn instead of rich text', () => {
    const found = foundIn('slack', (message) =>
      JSON.parse(JSON.stringify(message).replaceAll('{"type":"text",', '{"type":"mrkdwn",')),
    );
    expect(found.map(({ text }) => text)).toEqual(expect.arrayContaining(forChats.slice(0, 8)));
  });

  test('in Discord, words without the escape', () => {
    const found = foundIn('discord', (message) => rewritten(message, /\\([!-/:-@[-`{-~])/g, '$1'));
    expect(found.map(({ text }) => text)).toEqual(expect.arrayContaining(forChats.slice(9, 18)));
    expect(found.length).toBeGreaterThan(corpus.length / 2);
  });

  test('in Teams, the beginning of a tag, and Markdown', () => {
    const tags = foundIn('teams', (message) => rewritten(message, /\\u\{3c\}/g, '<'));
    expect(tags.map(({ text }) => text)).toContain('<at>Everyone</at> <at id="0">x</at>');
    const marked = foundIn('teams', (message) =>
      JSON.parse(JSON.stringify(message).replaceAll('"TextRun"', '"TextBlock"')),
    );
    expect(marked.map(({ text }) => text)).toContain('[your bank](https://evil.example)');
  });
});

test.each(formats)(
  'control: unless invisible characters are made visible, they are found in %s',
  async (format) => {
    const same = (words: string) => words;
    vi.doMock('@earshot/mcp/visible', () => ({ visible: same, unhidden: same }));
    vi.resetModules();
    const chat = await import('./read-chat.ts');
    const rendered = (words: string) => chat.messageOf(format, chat.chatBody([untrustedMatch(1, words)]));
    const found = injections('').filter(
      ({ text }) => harmIn(format, rendered(text), rendered(harmless(text))).length > 0,
    );
    const unseen = ['escapes of the terminal', 'letters that run the other way', 'invisible letters'];
    expect(found.map(({ family }) => family)).toEqual(expect.arrayContaining(unseen));
  },
);
