import { expect, test } from 'vitest';
import { createWakefulness } from './wakefulness.ts';

function start() {
  let now = 1_000;
  const wakefulness = createWakefulness(() => now);
  return {
    ...wakefulness,
    after(ms: number) {
      now += ms;
      return wakefulness;
    },
  };
}

test('who looks every second is awake', () => {
  const process = start();
  for (let second = 0; second < 60; second++) expect(process.after(1_000).look()).toBe(true);
  expect(process.after(900).asleepMs()).toBe(0);
});

test('who looks late is not certain of the time since the last look', () => {
  const process = start();
  process.after(1_000).look();
  expect(process.after(10_000).look()).toBe(false);
  expect(process.asleepMs()).toBe(10_000);
  expect(process.after(1_000).look()).toBe(false);
  expect(process.asleepMs()).toBe(11_000);
});

test('what nobody contradicts for a while counts as heard', () => {
  const process = start();
  process.after(10_000).look();
  expect(process.after(1_000).look()).toBe(false);
  expect(process.after(1_000).look()).toBe(false);
  expect(process.after(1_000).look()).toBe(true);
  expect(process.asleepMs()).toBe(0);
});

test('sleeping again before that belongs to the same sleep', () => {
  const process = start();
  process.after(10_000).look();
  expect(process.after(10_000).look()).toBe(false);
  expect(process.asleepMs()).toBe(20_000);
});

test('an end before the first look after the sleep knows of it', () => {
  const process = start();
  process.after(1_000).look();
  expect(process.after(7_000).asleepMs()).toBe(7_000);
});
