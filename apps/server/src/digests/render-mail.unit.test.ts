import { describe, expect, test } from 'vitest';
import type { DigestContent } from './message-content.ts';
import { chatDigestOf } from './render-chat.ts';
import { renderMail } from './render-mail.ts';

const complete = { without_gap: true, complete_through: '2026-11-17T08:00:00.000Z', gaps: [] };

const content: DigestContent = {
  digest_id: 'dig_1',
  name: 'morning report',
  number: 3,
  from: '2026-11-16T08:00:00.000Z',
  to: '2026-11-17T08:00:00.000Z',
  time_zone: 'Europe/Berlin',
  total: 1_200,
  total_is_minimum: false,
  counts: [
    { rule_id: 'rule_1', rule_name: 'quakes', platform: 'x', matches: 1_100 },
    { rule_id: 'rule_2', rule_name: 'floods', platform: 'firehose', matches: 100 },
  ],
  matches: [
    {
      id: 'mat_1',
      rule_id: 'rule_1',
      platform: 'x',
      created_at: '2026-11-17T07:59:00.000Z',
      url: 'https://x.com/a/status/1?a=1&b=2',
      title: null,
      text: 'the ground shook',
      author: 'seismo',
      why: ['ground', 'shook'],
    },
  ],
  coverage: complete,
};

test('a mail has the period in the time zone of the digest, counts, coverage and matches, in this order', () => {
  const { subject, text } = renderMail(content);
  expect(subject).toBe('morning report #3: 1,200 matches');
  expect(text).toBe(
    `morning report, message 3

  16 Nov 2026, 09:00:00 to 17 Nov 2026, 09:00:00 (Europe/Berlin)

1,200 matches
  1,100  quakes (rule_1) on x
  100  floods (rule_2) on firehose

Coverage
  Complete, without a gap.

Matches, the newest 1 of 1,200
  17 Nov 2026, 08:59:00  x  seismo  mat_1
  the ground shook
  https://x.com/a/status/1?a=1&b=2
  Matched: ground; shook
`,
  );
});

test('what is not shown is counted once, in mails and chats', () => {
  const hidden = { ...content, total: 10, hidden: { muted: 3, not_relevant: 1 } };
  expect(renderMail(hidden).text).toContain('Not shown: 3 muted, 1 not relevant.');
  const { lines, more } = chatDigestOf(hidden);
  expect(lines).toContain('Not shown: 3 muted, 1 not relevant.');
  // One is shown, and four are hidden.
  expect(more).toBe(5);
});

describe('a mail without matches', () => {
  const nothing = { ...content, total: 0, counts: [], matches: [] };

  test('says that coverage is complete', () => {
    const { subject, text } = renderMail(nothing);
    expect(subject).toBe('morning report #3: nothing matched');
    expect(text).toContain('Nothing matched. Coverage is complete.');
  });

  test('lists the gaps if coverage is incomplete or unknown', () => {
    const gaps = [
      {
        platform: 'x' as const,
        from: '2026-11-16T10:00:00.000Z',
        to: '2026-11-16T10:05:00.000Z',
        reason: 'connection_lost',
        repaired: false,
      },
    ];
    const missed = renderMail({ ...nothing, coverage: { ...complete, without_gap: false, gaps } }).text;
    expect(missed).toContain(
      'x: 16 Nov 2026, 11:00:00 to 16 Nov 2026, 11:05:00, connection_lost, not covered',
    );
    const unknown = { ...complete, without_gap: false, complete_through: '2026-11-17T07:00:00.000Z' };
    const late = renderMail({ ...nothing, coverage: unknown }).text;
    expect(late).toContain('Complete through 17 Nov 2026, 08:00:00.');
    const fetched = gaps.map((gap) => ({ ...gap, repaired: true }));
    const repaired = renderMail({ ...nothing, coverage: { ...complete, gaps: fetched } }).text;
    expect(repaired).toContain('Nothing matched. All gaps in the coverage were repaired.');
    expect(repaired).toContain('11:05:00, connection_lost, repaired');
    for (const text of [missed, late, repaired]) expect(text).not.toMatch(/without a gap|is complete/);
  });
});

test('line breaks of a text stay, and no field shows the code of one', () => {
  const [match] = content.matches;
  if (!match) throw new Error('there is one');
  const { text, html, subject } = renderMail({
    ...content,
    name: 'morning\nreport',
    matches: [
      {
        ...match,
        title: 'A long\n title',
        author: 'a\nb',
        text: 'First.\r\n\n\n\nSecond.\nThird.\n',
        why: ['a\nb'],
      },
    ],
  });
  expect(text).toContain('  A long / title\n  First.\n\n  Second.\n  Third.\n  https://');
  expect(html).toContain('A long / title<br>\n  First.<br>\n  <br>\n  Second.<br>\n  Third.<br>\n');
  for (const written of [text, html, subject]) expect(written).not.toContain('\\u{');
});

test('untrusted content is plain text: no markup, hidden characters or other links', () => {
  const [match] = content.matches;
  if (!match) throw new Error('there is one');
  const hostile =
    '<img src=https://evil.example/p.gif onerror="x()">\u202Eabc\u200B & <script>alert(1)</script>\nFrom: me';
  const { text, html, subject } = renderMail({
    ...content,
    name: 'name\r\nBcc: victim@example.org <b>',
    counts: [{ rule_id: 'rule_1', rule_name: hostile, platform: 'x', matches: 1 }],
    matches: [
      {
        ...match,
        title: hostile,
        text: hostile,
        author: hostile,
        why: [hostile],
        url: 'javascript:alert(1)',
      },
      { ...match, url: 'https://x.com/"><script>alert(2)</script>' },
    ],
  });
  expect(
    html.match(
      /<(?!\/?(html|head|body|h1|h2|p|title)>|!doctype html>|meta charset="utf-8">|br>|a href="https:\/\/[^"<>]*" rel="noreferrer">|\/a>)/g,
    ),
  ).toBeNull();
  expect(html).not.toMatch(/href="javascript/);
  expect(html.match(/href=/g)).toHaveLength(1);
  for (const written of [text, html, subject]) {
    expect(written).not.toMatch(/[\u202E\u200B\r]/);
    expect(written).not.toContain('\nBcc');
    expect(written).not.toContain('\nFrom');
    expect(written).not.toContain('<img');
  }
});

test.each([
  ['https://bank.example@evil.example/', undefined],
  ['https://evil.example/\u202Egpj.exe', 'https://evil.example/%E2%80%AEgpj.exe'],
  ['HTTPS://Example.com/a b', 'https://example.com/a%20b'],
])('a mail links %j only if the link shows where it leads', (url, link) => {
  const matches = content.matches.map((match) => ({ ...match, url }));
  const { html } = renderMail({ ...content, matches });
  const [, href, shown] = /<a href="([^"]*)"[^>]*>([^<]*)</.exec(html) ?? [];
  expect([href, shown]).toEqual([link, link]);
});
