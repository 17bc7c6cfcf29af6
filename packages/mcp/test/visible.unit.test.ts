import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { visible } from '../src/content/visible.ts';
import { markupIn, unseenIn } from './injections/fence.ts';
import { nastyText } from './nasty-texts.ts';

describe('visible', () => {
  test.each([
    ['a letter that turns the direction', 'a\u202eb', 'a\\u{202e}b'],
    ['a tag character', 'x\u{e0041}', 'x\\u{e0041}'],
    ['half of a surrogate pair', '\ud83dx', '\\u{d83d}x'],
    ['an escape of the terminal', '\u001b[31m', '\\u{1b}[31m'],
    ['a joiner between letters', 'a\u200db', 'a\\u{200d}b'],
    ['a joiner at the end', '👩\u200d', '👩\\u{200d}'],
    ['a variation selector behind a letter', 'a\ufe0f', 'a\\u{fe0f}'],
    ['a second variation selector', '❤\ufe0f\ufe0f', '❤\ufe0f\\u{fe0f}'],
    ['a line end within a field', 'a\nb', 'a\\u{a}b'],
    ['the beginning of a tag', '</untrusted-content-1>', '\\u{3c}/untrusted-content-1>'],
    ['the beginning of a control token', '<|im_start|>', '\\u{3c}|im_start|>'],
    ['the beginning of an image', '![a](b)', '!\\u{5b}a](b)'],
  ])('escapes %s', (_what, text, written) => {
    expect(visible(text)).toBe(written);
  });

  test.each([
    ['emoji that are joined', '👩‍👩‍👧 👨🏽‍💻 🏳️‍🌈 👁️‍🗨️ ❤️ 1️⃣'],
    ['letters of any language', 'Zoë שלום 漢字 नमस्ते é'],
    ['comparisons, hearts and links', 'a < b <3 [a](https://b.example)'],
  ])('keeps %s', (_what, text) => {
    expect(visible(text)).toBe(text);
  });

  test('keeps line ends if requested, and has one kind of space', () => {
    expect(visible('a\r\nb\n\tc\u2003d\re', { lines: true })).toBe('a\nb\n c d\\u{d}e');
  });

  test('leaves no invisible characters and no markup in arbitrary text, and is idempotent', () => {
    fc.assert(
      fc.property(nastyText(40), (text) => {
        const written = visible(text, { lines: true });
        expect(unseenIn(written)).toBeUndefined();
        expect(markupIn(written)).toBe(false);
        expect(visible(written, { lines: true })).toBe(written);
      }),
      { numRuns: 2_000 },
    );
  });
});
