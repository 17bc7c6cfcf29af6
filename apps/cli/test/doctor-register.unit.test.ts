import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assumptionNumbers, assumptions } from '../src/doctor/assumptions.ts';
import { doctorOfBluesky } from '../src/doctor/bluesky/platform.ts';
import { doctorOfFirehose } from '../src/doctor/firehose/platform.ts';
import { stepIds } from '../src/doctor/register.ts';
import { doctorOfX } from '../src/doctor/x/platform.ts';

const documents = join(import.meta.dirname, '../../../docs/upstreams');
const read = (name: string) => readFileSync(join(documents, name), 'utf8');

/** Rows of a register: number, question, assumption. */
function registerOf(text: string, letter: string) {
  const rows = text.matchAll(new RegExp(`^\\| (${letter}-\\d+) \\| (.+?) \\| (.+?) \\|$`, 'gm'));
  return Array.from(rows, ([, number = '', question = '', expected = '']) => ({
    number,
    question,
    expected,
  }));
}

/** The marks of assumptions outside of the legend: `[D/A X-4]`, `(A F-4)`. */
const marks = {
  X: /\[(?:[^\]\s]+\/)?A(?:[ :][^\]]*)?\]/g,
  F: /\(A\b[^)]*\)/g,
};

describe.each([
  { name: 'x.md', letter: 'X' as const },
  { name: 'firehose.md', letter: 'F' as const },
])('docs/upstreams/$name', ({ name, letter }) => {
  const text = read(name);
  const register = registerOf(text, letter);

  test('has every row of the doctor, word for word', () => {
    const own = assumptionNumbers.filter((number) => number.startsWith(letter));
    const rows = new Map(register.map(({ number, ...row }) => [number, row]));
    expect(own.length).toBeGreaterThan(25);
    for (const number of own) {
      const { question, expected } = assumptions[number];
      expect(rows.get(number)).toEqual({ question, expected });
    }
  });

  test('has a number of the register at every mark of an assumption', () => {
    const lines = text.split('\n').filter((line) => !/^\| \*\*\[?A\b/.test(line));
    const marked = lines.flatMap((line) => Array.from(line.matchAll(marks[letter]), ([mark]) => mark));
    const numbers = marked.map((mark) => /\bA ([XF]-\d+)/.exec(mark)?.[1] ?? mark);
    expect(marked.length).toBeGreaterThan(30);
    expect(numbers.filter((number) => !register.some((row) => row.number === number))).toEqual([]);
  });
});

test('docs/upstreams/bluesky.md has every row of the doctor, word for word', () => {
  const own = assumptionNumbers.filter((number) => number.startsWith('B'));
  const rows = own.map((number) => {
    const { question, expected } = assumptions[number];
    return { number, question, expected };
  });
  expect(rows).toEqual(registerOf(read('bluesky.md'), 'B'));
});

test('every id has a step, and only X5, X6 and F3 are paid', () => {
  const steps = [...doctorOfX.steps, ...doctorOfFirehose.steps, ...doctorOfBluesky.steps];
  expect(steps.map(({ id }) => id)).toEqual([...stepIds]);
  expect(steps.filter(({ usdMax }) => usdMax > 0).map(({ id }) => id)).toEqual(['X5', 'X6', 'F3']);
});
