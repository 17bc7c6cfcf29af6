import { harmless, injections } from '@earshot/mcp/injections';
import { expect, test, vi } from 'vitest';
import { chatBody, harmIn, messageOf, strangersMatch } from './read-chat.ts';

/** Control: the formats as they are, with what makes words visible switched off. */
vi.mock('@earshot/mcp/visible', () => {
  const same = (words: string) => words;
  return { visible: same, unhidden: same };
});

test.each(['slack', 'discord', 'teams'] as const)(
  'control: without making words visible, what nobody sees is found in %s',
  (format) => {
    const rendered = (words: string) => messageOf(format, chatBody([strangersMatch(1, words)]));
    const found = injections('').filter(
      ({ text }) => harmIn(format, rendered(text), rendered(harmless(text))).length > 0,
    );
    expect(found.map(({ family }) => family)).toEqual(
      expect.arrayContaining([
        'escapes of the terminal',
        'letters that run the other way',
        'letters that nobody sees',
      ]),
    );
  },
);
