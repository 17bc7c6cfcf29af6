import { describe, expect, test } from 'vitest';
import { StreamEnded, type StreamEnding, type StreamFrame } from '../upstream-stream.ts';
import { readFrames } from './stream.ts';

async function read(chunks: readonly Uint8Array[]): Promise<{ frames: StreamFrame[]; ending: StreamEnding }> {
  async function* given() {
    yield* chunks;
  }
  const frames: StreamFrame[] = [];
  try {
    for await (const frame of readFrames(given())) frames.push(frame);
  } catch (error) {
    if (error instanceof StreamEnded) return { frames, ending: error.ending };
    throw error;
  }
  throw new Error('it ended without saying how');
}

const readText = (text: string) => read([new TextEncoder().encode(text)]);
const item = (upstreamId: string | null, text: string) => ({ kind: 'item', upstreamId, text });

describe('frames', () => {
  test('are items between the opening and the end', async () => {
    const text =
      'event: connected\ndata: {}\n\nid: 0-7\nevent: update\ndata: {"a":1}\n\nevent: end\ndata: {}\n\n';
    expect(await readText(text)).toEqual({
      frames: [{ kind: 'opened' }, item('0-7', '{"a":1}')],
      ending: { kind: 'finished' },
    });
  });

  test('may come with a byte order mark, comments, unknown fields and events, and any space', async () => {
    const text = [
      '\uFEFFevent:connected\ndata:[]\n\n: a comment\n\nretry: 5\nstrange: field\n\n',
      'event: news\ndata: x\n\nid:0-1\nevent:update\ndata: one\ndata: two\n\n',
    ].join('');
    expect(await readText(text)).toEqual({
      frames: [{ kind: 'opened' }, item('0-1', 'one\ntwo')],
      ending: { kind: 'dropped' },
    });
  });

  test('without an end are dropped', async () => {
    const text = 'id: 0-1\nevent: update\ndata: a\n\nid: 0-2\nevent: update\ndata: b\n';
    expect(await readText(text)).toEqual({ frames: [item('0-1', 'a')], ending: { kind: 'dropped' } });
  });

  test('without an id are passed on, to be counted', async () => {
    expect((await readText('event: update\ndata: a\n\n')).frames).toEqual([item(null, 'a')]);
  });

  test.each([
    ['{"message":"No rules configured. Create them with POST /v1/rules."}', { kind: 'no_rules' }],
    ['{"message":"Something else"}', { kind: 'failing', status: 200 }],
    ['no json', { kind: 'failing', status: 200 }],
  ])('the error %s ends the stream', async (data, ending) => {
    const text = `event: error\ndata: ${data}\n\nid: 0-1\nevent: update\ndata: late\n\n`;
    expect(await readText(text)).toEqual({ frames: [], ending });
  });

  test.each(['', 'ř', '0 1', 'x'.repeat(201)])('cannot be resumed from the id "%s"', async (id) => {
    expect((await readText(`id: ${id}\nevent: update\ndata: a\n\n`)).frames).toEqual([item(null, 'a')]);
  });

  const mebibyte = 'x'.repeat(1024 * 1024);
  const long = (start: string) => [start, ...Array.from({ length: 17 }, () => mebibyte), '\n'];
  const many = (start: string) => Array.from({ length: 17 }, () => `${start}${mebibyte}\n`);
  const empty = (start: string) => Array.from({ length: 17 }, () => `${start}\n`.repeat(17_000));
  const head = ['id: 0-1\n', 'event: update\n'];

  test.each([
    ['with one long data line', [...head, ...long('data: ')]],
    ['with many data lines', [...head, ...many('data: ')]],
    ['with very many empty data lines', [...head, ...empty('data')]],
    ['with the id after the data', [...long('data: '), 'event: update\n', 'id: 0-1\n']],
    ['with the event name after the data', ['id: 0-1\n', ...long('data:'), 'event: update\n']],
  ])('%s are skipped and reported, and the next one is complete', async (_which, lines) => {
    const good = (id: string) => `id: ${id}\nevent: update\ndata: good\n\n`;
    const text = [good('0-0'), ...lines, '\n', good('0-2'), 'event: end\ndata: {}\n\n'];
    expect(await read(text.map((piece) => new TextEncoder().encode(piece)))).toEqual({
      frames: [item('0-0', 'good'), { kind: 'too_large', upstreamId: '0-1' }, item('0-2', 'good')],
      ending: { kind: 'finished' },
    });
  });

  test('with a long comment or an unknown field are complete', async () => {
    const text = [...long(': '), 'id: 0-1\n', ...long('strange: '), 'event: update\ndata: good\n\n'];
    expect((await read(text.map((piece) => new TextEncoder().encode(piece)))).frames).toEqual([
      item('0-1', 'good'),
    ]);
  });

  test('without an end are reported once they are too large', async () => {
    const text = [...head, ...many('data: '), ...many('data: ')];
    expect((await read(text.map((piece) => new TextEncoder().encode(piece)))).frames).toEqual([
      { kind: 'too_large', upstreamId: '0-1' },
    ]);
  });
});
