import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { readFrames } from './firehose/stream.ts';
import { splitLines } from './split-lines.ts';
import { StreamEnded, type StreamFrame } from './upstream-stream.ts';

const cases = lengthOf({ always: 8_000, nightly: 100_000 });
const seed = Number(process.env['CHUNKING_SEED'] ?? Date.now() % 1_000_000);

/** xorshift: small, fast and reproducible. */
function createDice(from: number) {
  let state = from + 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const upTo = (max: number) => Math.floor(next() * (max + 1));
  return {
    upTo,
    isLucky: (chance: number) => next() < chance,
    pick: <Item>(items: readonly [Item, ...Item[]]): Item => items[upTo(items.length - 1)] ?? items[0],
  };
}
type Dice = ReturnType<typeof createDice>;

const texts = ['a', 'é', '東京', '🚀🇨🇭', '\u2028', '\ufeff', 'x: y', '  ', '"', '\\r\\n'] as const;

function someText(dice: Dice): string {
  let text = '';
  for (let left = dice.upTo(5); left > 0; left--) text += dice.pick(texts);
  return text;
}

/** Cuts at any byte, even inside a character or line end; sometimes into single bytes or empty chunks. */
function* cut(bytes: Uint8Array, dice: Dice): Generator<Uint8Array> {
  const size = dice.pick([1, 3, 10, 60, 1_000]);
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + dice.upTo(size) + (size === 1 ? 1 : 0));
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function* asStream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const encoder = new TextEncoder();
const bom = '\ufeff';

describe(`${cases} random chunkings, seed ${seed}`, () => {
  test('of the X stream yield the sent lines', async () => {
    const dice = createDice(seed);
    let records = 0;
    for (let round = 0; round < cases; round++) {
      let wire = dice.isLucky(0.1) ? bom : '';
      const sent: string[] = [];
      for (let left = dice.upTo(6); left > 0; left--) {
        const line = dice.isLucky(0.3)
          ? ''
          : dice.isLucky(0.1)
            ? '{"meta":{}}'
            : `{"data":"${someText(dice)}"}`;
        sent.push(line);
        wire += line + (dice.isLucky(0.8) ? '\r\n' : '\n');
      }
      if (dice.isLucky(0.2)) wire += '{"half":';
      const received: string[] = [];
      const chunks = asStream(cut(encoder.encode(wire), dice));
      for await (const { text } of splitLines(chunks, { bytesMax: 1_000 })) received.push(text);
      if (received.join('\n') !== sent.join('\n')) expect(received, `round ${round}`).toEqual(sent);
      records += sent.length;
    }
    expect(records).toBeGreaterThan(cases);
  }, 120_000);

  test('of the Firehose stream yield the sent events', async () => {
    const dice = createDice(seed);
    let updates = 0;
    for (let round = 0; round < cases; round++) {
      const eol = dice.pick(['\n', '\r\n', '\r']);
      const { wire, sent } = someEvents(dice, eol);
      const received = await read(asStream(cut(encoder.encode(wire), dice)));
      if (received.join('\n') !== sent.join('\n'))
        expect(received, `round ${round}: ${JSON.stringify(wire)}`).toEqual(sent);
      updates += sent.length;
    }
    expect(updates).toBeGreaterThan(cases);
  }, 120_000);
});

/** A generated stream and what a reader must find in it. */
function someEvents(dice: Dice, eol: string): { wire: string; sent: string[] } {
  let wire = dice.isLucky(0.1) ? bom : '';
  const sent: string[] = ['opened'];
  const say = (...lines: string[]) => {
    wire += lines.map((line) => line + eol).join('') + eol;
  };
  say('event: connected', 'data: {}');
  for (let left = dice.upTo(5); left > 0; left--) {
    const id = `0-${dice.upTo(1_000_000)}`;
    const data = [someText(dice), ...(dice.isLucky(0.2) ? [someText(dice)] : [])];
    const what = dice.upTo(9);
    if (what === 0) wire += `: ${someText(dice)}${eol}`;
    else if (what === 1) say('event: surprise', 'data: {}');
    else if (what === 2) say(`retry: ${dice.upTo(100)}`);
    else {
      const space = dice.isLucky(0.9) ? ' ' : '';
      // A field without the optional space keeps a leading space of its text, so texts here have none.
      const lines = data.map((text) => (space === '' ? text.replace(/^ +/, '') : text));
      say(`id:${space}${id}`, `event:${space}update`, ...lines.map((text) => `data:${space}${text}`));
      sent.push(`${id} ${lines.join('\n')}`);
    }
  }
  const end = dice.upTo(3);
  if (end === 0) say('event: end', 'data: {}');
  if (end === 1) wire += `id: 0-1${eol}event: update${eol}data: half`;
  sent.push(end === 0 ? 'finished' : 'dropped');
  return { wire, sent };
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const received: string[] = [];
  const describeFrame = (frame: StreamFrame) =>
    frame.kind === 'item' ? `${frame.upstreamId} ${frame.text}` : frame.kind;
  try {
    for await (const frame of readFrames(chunks)) received.push(describeFrame(frame));
  } catch (error) {
    if (!(error instanceof StreamEnded)) throw error;
    received.push(error.ending.kind);
  }
  return received;
}
