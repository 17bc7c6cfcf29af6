import { describe, expect, test } from 'vitest';
import { splitLines } from './split-lines.ts';

const bytesMax = 4 * 1024 * 1024;

async function split(chunks: readonly Uint8Array[]): Promise<Array<string | null>> {
  async function* given() {
    yield* chunks;
  }
  const lines: Array<string | null> = [];
  for await (const { text, isCut } of splitLines(given(), { bytesMax })) lines.push(isCut ? null : text);
  return lines;
}

describe('lines', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test('may end without a carriage return, and a keep-alive is an empty one', async () => {
    expect(await split([bytes('a\n\r\n\nb\rc\r\n')])).toEqual(['a', '', '', 'b\rc']);
  });

  test('without an end are dropped', async () => {
    expect(await split([bytes('a\r\nhalf')])).toEqual(['a']);
    expect(await split([bytes('half'), bytes('\r')])).toEqual([]);
  });

  test('that are too long are reported once and skipped, and the next one is complete', async () => {
    const piece = bytes('x'.repeat(1024 * 1024));
    const chunks = [
      bytes('a\r\n'),
      ...Array.from({ length: 9 }, () => piece),
      bytes('end\r\nb\r\nc'),
      bytes('\r\n'),
    ];
    expect(await split(chunks)).toEqual(['a', null, 'b', 'c']);
  });
});

/** CPU time to read one line that arrives slowly, after the compiler has warmed up. */
async function dripCost(lineBytes: number): Promise<number> {
  const piece = new Uint8Array(64).fill(0x78);
  const chunks = Array.from({ length: lineBytes / piece.length }, () => piece);
  const before = process.cpuUsage();
  expect(await split([...chunks, new TextEncoder().encode('\n')])).toEqual(['x'.repeat(lineBytes)]);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

test('a line of four times the length costs about four times as much', async () => {
  const bytes = 512 * 1024;
  await dripCost(bytes);
  const ratios: number[] = [];
  for (let round = 0; round < 5; round++) ratios.push((await dripCost(4 * bytes)) / (await dripCost(bytes)));
  // Searching the buffer again with each chunk would cost sixteen times as much.
  expect(ratios.toSorted((a, b) => a - b)[2]).toBeLessThan(8);
});
