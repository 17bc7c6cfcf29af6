import { readFileSync } from 'node:fs';
import { sourceStates } from '@earshot/contract';
import { expect, test } from 'vitest';
import { gapReasons } from './upstream-stream.ts';

/** Names in code in the first column of the tables after a heading. */
function namesUnder(heading: string): string[] {
  const page = readFileSync(new URL('../../../../docs/sources.md', import.meta.url), 'utf8');
  const part = page.split(/^#+ /m).find((one) => one.startsWith(heading)) ?? '';
  const cells = part.split('\n').map((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? '');
  return cells.flatMap((cell) => Array.from(cell.matchAll(/`([a-z_]+)`/g), ([, name = '']) => name));
}

test('docs/sources.md explains exactly the states of sources', () => {
  expect(namesUnder('Sources').toSorted()).toEqual([...sourceStates].toSorted());
});

test('docs/sources.md explains exactly the reasons of gaps', () => {
  expect(namesUnder('Gap reasons').toSorted()).toEqual([...gapReasons].toSorted());
});
