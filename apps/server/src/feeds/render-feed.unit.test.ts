import type { Match } from '@earshot/contract';
import { expect, test } from 'vitest';
import { parseAtom, parseJsonFeed } from '../../test/feed-documents.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { feedContent } from './feed-content.ts';
import { formats } from './render-feed.ts';

const at = '2026-11-14T22:46:00.000Z';
let matches = 0;

function matchWith(payload: Partial<Match['payload']>, words: readonly string[] = []): Match {
  const evidence = words.map((text) => ({
    rule_span: { start: 0, end: 1 },
    field: 'keyword',
    path: 'data.text',
    text_span: null,
    text,
  }));
  return {
    id: matchIdOf(++matches),
    rule_id: 'rule_1',
    rule_version: 1,
    created_at: at,
    platform: 'x',
    platform_post_id: '1',
    via: 'stream',
    payload: {
      url: 'https://example.com/a?b=1&c=2',
      title: null,
      text: 'a post',
      author: { id: '1', name: 'Ferris', handle: 'ferris' },
      published_at: at,
      language: 'en',
      raw: {},
      ...payload,
    },
    why: { verdict: 'match', confidence: 'exact', evidence, undecided: [] },
  };
}

function render(found: readonly Match[], { ruleName = 'Rust', consoleUrl = 'https://e.example/' } = {}) {
  const content = feedContent(
    { installationId: 'abc', consoleUrl: consoleUrl || null },
    { id: 'feed_1', name: 'My <b>feed</b> & ]]>', modifiedAt: new Date(at) },
    {
      matches: found,
      ruleNames: new Map([['rule_1', ruleName]]),
      removals: [{ matchPosition: 7, at: new Date(at) }],
    },
  );
  return { atom: formats.atom.render(content), json: formats.json.render(content) };
}

/** Every string is put in the place of every text. */
const hostile: Readonly<Record<string, string>> = {
  markup: '<script>alert(1)</script><b>"bold"</b> & &amp; &#0; &bogus; \'',
  'the end of a section': 'a ]]> b <![CDATA[ c --> <!-- <?xml version="1.0"?> <!DOCTYPE x [<!ENTITY y "z">]>',
  'control characters': Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('a'),
  'C1 control characters': 'a\u007f\u0080\u0085\u009fb',
  'lone surrogates': 'a\ud800b\udc00c\ud83d',
  'direction marks': '\u202eevil\u202c \u2066x\u2069 \u200f\u061c',
  noncharacters: 'a\ufffe\uffff\u{1fffe}\u{10ffff}b',
  'line separators': 'a\u2028b\u2029c\r\nd\re',
  emoji: '👩‍👩‍👧 ❤️ 𝒳',
  'only white space': ' \t\r\n\u00a0',
  'only invisible characters': '\u200b\u200b',
  empty: '',
  '100 kB': '<&"😀'.repeat(20_000),
};

test.each(Object.entries(hostile))('%s in every text leaves both formats valid', (name, text) => {
  const author = { id: text, name: text, handle: text };
  const hostileMatches = [
    matchWith({ title: text, text, author, url: text, published_at: text, language: text }, [text, text]),
    matchWith({ title: null, text, author: { id: text, name: null, handle: null }, url: null }),
    matchWith({ title: text, text: null, author: null, url: `https://example.com/${text}?q=${text}` }),
  ];
  for (const consoleUrl of ['https://e.example/', '']) {
    const { atom, json } = render(hostileMatches, { ruleName: text, consoleUrl });
    const { entries } = parseAtom(atom);
    const { items } = parseJsonFeed(json);
    expect(entries).toHaveLength(3);
    expect(items.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    expect(atom.length + json.length).toBeLessThan(1_000_000);
    // Both say the same, and nothing is hidden in it.
    expect(items.map(({ content_text }) => content_text)).toEqual(entries.map(({ content }) => content));
    // Joiners inside emoji hide nothing.
    const hidden = name === 'emoji' ? /[\p{Cs}]/u : /[\p{Cf}\p{Cs}]/u;
    for (const { title, content } of entries) expect(title + content).not.toMatch(hidden);
  }
});

test('an entry has the title, link, author, times, rule and platform of its match, and what matched', () => {
  const match = matchWith(
    { title: 'A <title>', text: 'two\nlines & more', published_at: '2026-11-14T22:00:00.000Z' },
    ['two', 'two', 'lines'],
  );
  const { atom, json } = render([match]);
  const feed = parseAtom(atom);
  expect(feed).toMatchObject({ title: 'My <b>feed</b> & ]]>', updated: at });
  expect(feed.deleted).toHaveLength(1);
  const [entry] = feed.entries;
  expect(entry).toEqual({
    id: expect.stringMatching(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    title: 'A <title>',
    content: 'two\nlines & more',
    author: 'Ferris (@ferris)',
    published: '2026-11-14T22:00:00.000Z',
    links: [
      { rel: 'alternate', href: 'https://example.com/a?b=1&c=2' },
      { rel: 'related', href: `https://e.example/feed?peek=${match.id}` },
    ],
    categories: ['Rust', 'X'],
  });
  expect(parseJsonFeed(json).items).toEqual([
    {
      id: entry?.id,
      url: 'https://example.com/a?b=1&c=2',
      title: 'A <title>',
      content_text: 'two\nlines & more',
      date_published: '2026-11-14T22:00:00.000Z',
      date_modified: at,
      authors: [{ name: 'Ferris (@ferris)' }],
      tags: ['Rust', 'X'],
      language: 'en',
      _earshot: { match_id: match.id, rule_id: 'rule_1', platform: 'x', why: ['two', 'lines'] },
    },
  ]);
});

test('an id depends on the installation and the match alone', () => {
  const match = matchWith({});
  const idOf = (installationId: string, consoleUrl: string | null, one: Match) =>
    feedContent(
      { installationId, consoleUrl },
      { id: 'f', name: 'f', modifiedAt: new Date() },
      {
        matches: [one],
        ruleNames: new Map(),
        removals: [],
      },
    ).entries[0]?.id;
  const id = idOf('a', null, match);
  expect(
    idOf('a', 'https://moved.example/', { ...match, payload: matchWith({ text: 'other' }).payload }),
  ).toBe(id);
  expect(idOf('b', null, match)).not.toBe(id);
  expect(idOf('a', null, matchWith({}))).not.toBe(id);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'ftp://a.example/',
  'https://user:secret@a.example/',
  '//a',
  null,
])('the address %s is not linked; the match in the console is', (url) => {
  const match = matchWith({ url });
  const inConsole = `https://e.example/feed?peek=${match.id}`;
  const { atom, json } = render([match]);
  expect(parseAtom(atom).entries[0]?.links).toEqual([{ rel: 'alternate', href: inConsole }]);
  expect(parseJsonFeed(json).items[0]?.url).toBe(inConsole);
  const without = render([match], { consoleUrl: '' });
  expect(parseAtom(without.atom).entries[0]?.links).toEqual([]);
  expect(parseJsonFeed(without.json).items[0]).not.toHaveProperty('url');
});

test('a post without a title is titled by its first words, and a long text is cut', () => {
  const long = 'word '.repeat(5_000);
  const [entry] = parseAtom(render([matchWith({ text: long })]).atom).entries;
  expect(entry?.title).toMatch(/^(word ){10,20}word…$/);
  expect(entry?.content).toHaveLength(10_001);
});

/** The validators see what escaping prevents: the control of the tests above. */
test.each([
  ['markup', (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>'), 'allow'],
  ['an ampersand', (text: string) => text.replaceAll('&amp;', '&'), 'xmlParseEntityRef'],
  ['a quote in an attribute', (text: string) => text.replaceAll('&quot;', '"'), 'attributes construct error'],
  ['a control character', (text: string) => text.replace('\\u{1}', '\u0001'), 'invalid Char value 1'],
  ['a nonexistent time', (text: string) => text.replaceAll(at, '2026-13-14T22:46:00.000Z'), 'dateTime'],
  ['a second id', (text: string) => text.replaceAll('<published>', '<id>a:b</id><published>'), 'element id'],
])('the validator refuses %s', (_name, damage, message) => {
  const ruleName = 'a "quoted" rule';
  const { atom } = render([matchWith({ text: '<b>bold</b> & \u0001' })], { ruleName });
  expect(parseAtom(atom).entries).toHaveLength(1);
  expect(() => parseAtom(damage(atom))).toThrow(message);
});
