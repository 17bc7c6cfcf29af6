import { expect, test } from 'vitest';
import { copiedText } from './copied-text.ts';

const text = 'Rust 2027 is out: nothing broke, and compile times are lower than ever before';
const plain = 'rust2027isoutnothingbrokeandcompiletimesarelowerthaneverbefore';

test.each([
  ['the text', text],
  ['other case and whitespace', `  ${text.toUpperCase().replaceAll(' ', '\n\t ')} `],
  ['other punctuation', text.replace(':', ' —').replace(',', '…')],
  ['emoji', `🚀🦀 ${text} 👩‍🚀❤️`],
  ['addresses', `${text} https://t.co/abc http://example.com/a?b=c`],
  ['handles', `@ferris ${text} @a.bsky.social`],
  ['the beginning of a repost', `RT @ferris: ${text}`],
  ['full-width letters', text.replace('Rust', 'Ｒｕｓｔ')],
  ['hashtags as words', text.replace('Rust', '#Rust')],
])('a copy with %s is the same text', (_, copy) => {
  expect(copiedText(copy)).toBe(plain);
});

test.each([
  ['another number', text.replace('2027', '2028')],
  ['another word', text.replace('lower', 'higher')],
  ['an accent', text.replace('nothing', 'nöthing')],
])('a text with %s is another text', (_, other) => {
  expect(copiedText(other)).not.toBe(plain);
});

test('a mail address is not a handle', () => {
  expect(copiedText(`${text} press@example.com`)).toBe(`${plain}pressexamplecom`);
});

test.each([
  ['an everyday sentence', 'Good morning everyone, have a great day!'],
  ['many emoji', '🚀'.repeat(100)],
  ['only addresses and handles', '@a @b @c https://example.com/a/very/long/address/that/is/no/text'],
  ['a short Chinese sentence', '今天天气很好。'],
  ['nothing', ''],
  ['a whole page', 'word '.repeat(5_000)],
])('%s is not compared', (_, short) => {
  expect(copiedText(short)).toBeNull();
});

test('a Chinese sentence has fewer characters than an English one', () => {
  expect(copiedText('锈语言二零二七版本今天正式发布，所有旧代码都能编译')).not.toBeNull();
});
