import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventParser } from '../src/server-sent-events.ts';

const text = [
  'retry: 250\n\n',
  'id: a\nevent: open\ndata: {}\n\n',
  ':\n\n',
  'id: b\r\nevent: match\r\ndata: {"é": "\u{1f680}"}\r\n\r\n',
  'data:first\rdata: second\r\r',
  'event: nothing\n\n',
  'data\n\n',
  'id: c\ndata: cut off',
].join('');

const events = [
  { id: 'a', event: 'open', data: '{}' },
  { id: 'b', event: 'match', data: '{"é": "\u{1f680}"}' },
  { id: 'b', event: 'message', data: 'first\nsecond' },
  { id: 'b', event: 'message', data: '' },
];

test('the events do not depend on where the pieces end', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 30 }), (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), text.length];
      const parser = createEventParser();
      const got = ends.flatMap((end, index) => parser.push(text.slice(ends[index - 1] ?? 0, end)));
      expect(got).toEqual(events);
      expect(parser.retryMs).toBe(250);
    }),
    { examples: [[Array.from(text, (_, index) => index)]] },
  );
});
