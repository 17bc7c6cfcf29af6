import { expect, test } from 'vitest';
import { createReadingLag } from './reading-lag.ts';

function start() {
  let now = 0;
  const lag = createReadingLag(() => now);
  return { lag, pass: (ms: number) => (now += ms) };
}

test('a waiting reader is not behind, however long no data arrives', () => {
  const { lag, pass } = start();
  pass(60_000);
  expect(lag.behindMs()).toBe(0);
  lag.arrived();
  lag.waits();
  pass(60_000);
  expect(lag.behindMs()).toBe(0);
});

test('a blocked reader is behind since it stopped reading', () => {
  const { lag, pass } = start();
  pass(100);
  lag.arrived();
  pass(5_000);
  expect(lag.behindMs()).toBe(5_000);
});

test('a reader stays behind until it has to wait for data', () => {
  const { lag, pass } = start();
  pass(100);
  lag.arrived();
  pass(3_000);
  for (let n = 0; n < 10; n++) {
    lag.waits();
    pass(1);
    lag.arrived();
  }
  expect(lag.behindMs()).toBe(3_010);
  lag.waits();
  pass(2);
  lag.arrived();
  expect(lag.behindMs()).toBe(0);
});

test('time after the end of the stream counts', () => {
  const { lag, pass } = start();
  pass(100);
  lag.arrived();
  pass(700);
  expect(lag.behindMs()).toBe(700);
});
