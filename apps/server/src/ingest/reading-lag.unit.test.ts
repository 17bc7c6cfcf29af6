import { expect, test } from 'vitest';
import { createReadingLag } from './reading-lag.ts';

function start() {
  let now = 0;
  const lag = createReadingLag(() => now);
  return { lag, pass: (ms: number) => (now += ms) };
}

test('a reader that waits is not behind, however long nothing comes', () => {
  const { lag, pass } = start();
  pass(60_000);
  expect(lag.behindMs()).toBe(0);
  lag.came();
  lag.waits();
  pass(60_000);
  expect(lag.behindMs()).toBe(0);
});

test('one that is held up is behind since it began', () => {
  const { lag, pass } = start();
  pass(100);
  lag.came();
  pass(5_000);
  expect(lag.behindMs()).toBe(5_000);
});

test('it stays behind while what it takes next is there at once, until it has to wait', () => {
  const { lag, pass } = start();
  pass(100);
  lag.came();
  pass(3_000);
  for (let n = 0; n < 10; n++) {
    lag.waits();
    pass(1);
    lag.came();
  }
  expect(lag.behindMs()).toBe(3_010);
  lag.waits();
  pass(2);
  lag.came();
  expect(lag.behindMs()).toBe(0);
});

test('time after the end counts', () => {
  const { lag, pass } = start();
  pass(100);
  lag.came();
  pass(700);
  expect(lag.behindMs()).toBe(700);
});
