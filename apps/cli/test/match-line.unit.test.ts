import type { Match } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { matchLine } from '../src/output/match-line.ts';
import { matchText } from '../src/output/match-text.ts';
import { fitWidth, printable } from '../src/output/printable.ts';
import type { Style } from '../src/output/screen.ts';

const post: Match = {
  id: 'mat_1',
  rule_id: 'rule_1',
  rule_version: 1,
  created_at: '2026-11-14T22:46:00.000Z',
  platform: 'x',
  platform_post_id: '1',
  via: 'stream',
  payload: {
    url: null,
    title: null,
    text: 'Liftoff!',
    author: { id: '7', name: 'Mira', handle: 'mira' },
    published_at: null,
    language: 'en',
    raw: {},
  },
  why: { verdict: 'match', confidence: 'exact', evidence: [], undecided: [] },
};
const page: Match = {
  ...post,
  platform: 'firehose',
  platform_post_id: 'https://news.example/a/1',
  payload: { ...post.payload, title: 'A title', text: 'much text', author: null },
};

type Evidence = Match['why']['evidence'][number];

function because(match: Match, ...evidence: Partial<Evidence>[]): Match {
  const whole = {
    rule_span: { start: 0, end: 1 },
    field: 'keyword',
    path: 'data.text',
    text_span: null,
    text: '',
  };
  return { ...match, why: { ...match.why, evidence: evidence.map((one) => ({ ...whole, ...one })) } };
}

const withText = (match: Match, text: string): Match => ({ ...match, payload: { ...match.payload, text } });

const plain = (columns: number) => ({ columns, paint: (_: Style, text: string) => text });
/** Renders hits in brackets. */
const marked = (columns: number) => ({
  columns,
  paint: (style: Style, text: string) => (Array.isArray(style) ? `[${text}]` : text),
});

test('a line has time, platform, author and text', () => {
  expect(matchLine(post, plain(100))).toMatch(/^\d\d:\d\d:\d\d {2}x {9}@mira {20}.*Liftoff!$/);
  expect(matchLine(page, plain(100))).toMatch(/^\d\d:\d\d:\d\d {2}firehose {2}news\.example {14}A title$/);
});

test('matching words are highlighted, and overlapping ones are merged', () => {
  const match = because(
    withText(post, 'A rocket launch, at last'),
    { text_span: { start: 2, end: 8 }, text: 'rocket' },
    { text_span: { start: 2, end: 15 }, text: 'rocket launch' },
    { text_span: { start: 20, end: 24 }, text: 'last' },
  );
  expect(matchLine(match, marked(120))).toMatch(/ A \[rocket launch\], at \[last\]$/);
});

test('a span of another part of the item is found by its words', () => {
  const match = because(withText(post, 'first piece\nsecond rocket'), {
    text_span: { start: 7, end: 13 },
    text: 'rocket',
  });
  expect(matchLine(match, marked(120))).toMatch(/ first piece second \[rocket\]$/);
});

test('a page shows its title, and its text if only the text has a hit', () => {
  const inTitle = because(page, { path: 'document.title', text_span: { start: 2, end: 7 }, text: 'title' });
  expect(matchLine(inTitle, marked(120))).toMatch(/ A \[title\]$/);
  const inText = because(page, {
    path: 'document.diff.chunks[0].text',
    text_span: { start: 5, end: 9 },
    text: 'text',
  });
  expect(matchLine(inText, marked(120))).toMatch(/ A title · much \[text\]$/);
});

test('a hit far into a long text is visible', () => {
  const text = `${'long '.repeat(100)}rocket ${'more '.repeat(100)}`;
  const match = because(withText(post, text), { text_span: { start: 500, end: 506 }, text: 'rocket' });
  expect(matchLine(match, marked(100))).toMatch(/ {2}…[long ]+\[rocket\][more ]+…$/);
  expect(matchLine(match, plain(100))).toHaveLength(100);
});

test('reasons that the text does not show are listed', () => {
  const match = because(post, { field: 'from', text: 'mira' });
  expect(matchLine(match, plain(120))).toMatch(/Liftoff! {2}\(from mira\)$/);
});

test('undecided clauses have a question mark, unless the text has a hit', () => {
  const undecided = [{ rule_span: { start: 0, end: 9 }, field: 'sample', why: 'only X can decide this' }];
  const unsure = (match: Match): Match => ({ ...match, why: { ...match.why, undecided } });
  expect(matchLine(unsure(post), plain(120))).toMatch(/Liftoff! {2}\(sample\?\)$/);
  const named = because(post, { field: 'from', text: 'mira' });
  expect(matchLine(unsure(named), plain(120))).toMatch(/Liftoff! {2}\(from mira, sample\?\)$/);
  const shown = because(post, { text_span: { start: 0, end: 7 }, text: 'Liftoff' });
  expect(matchLine(unsure(shown), marked(120))).toMatch(/ \[Liftoff\]!$/);
});

test('no control, bidirectional or line-breaking character of a post reaches the terminal', () => {
  const hostile = '\u001b[2Ja\r\nb\u0007\u009b1m\u202ec\u2028d\u0000\u200be\ud800';
  expect(printable(hostile)).toBe('[2Ja b 1m c d e');
  const match: Match = {
    ...withText(post, hostile),
    payload: { ...post.payload, text: hostile, author: { id: '7', name: null, handle: hostile } },
  };
  const lines = [
    match,
    because(match, { text_span: { start: 0, end: hostile.length }, text: hostile }),
    because(match, { field: hostile, text: hostile }),
  ].map((one) => matchLine(one, plain(200)));
  for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}]/u);
});

test('a line is never wider than the terminal, also with wide characters', () => {
  expect(fitWidth('ロケット打ち上げ', 7)).toBe('ロケッ…');
  expect(fitWidth('🚀🚀', 4)).toBe('🚀🚀');
  expect(fitWidth('🚀🚀🚀', 4)).toBe('🚀… ');
  expect(fitWidth('abc', 5)).toBe('abc  ');
  expect(matchLine(withText(post, 'x'.repeat(500)), plain(80))).toHaveLength(80);
  const hit = because(withText(post, 'x'.repeat(500)), {
    text_span: { start: 0, end: 400 },
    text: 'x'.repeat(400),
  });
  expect(matchLine(hit, plain(80))).toHaveLength(80);
});

test('a single match has its whole text, and no control characters', () => {
  const text = `${'a long text '.repeat(30)}\u001b[31mlast`;
  const shown = matchText({ ...post, payload: { ...post.payload, text } }, { paint: (_, words) => words });
  expect(shown).toContain('id        mat_1\nrule      rule_1, version 1\n');
  expect(shown).toMatch(/\n\na long text .*last$/);
  expect(shown).not.toContain('\u001b');
});
