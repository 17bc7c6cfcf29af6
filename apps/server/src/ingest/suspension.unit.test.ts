import { expect, test } from 'vitest';
import { createSuspensionDetector } from './suspension.ts';

function start() {
  let now = 1_000;
  const detector = createSuspensionDetector(() => now);
  return {
    ...detector,
    after(ms: number) {
      now += ms;
      return detector;
    },
  };
}

test('who looks every second is awake', () => {
  const process = start();
  for (let second = 0; second < 60; second++) expect(process.after(1_000).check()).toBe(true);
  expect(process.after(900).uncertainMs()).toBe(0);
});

test('who looks late is not certain of the time since the last look', () => {
  const process = start();
  process.after(1_000).check();
  expect(process.after(10_000).check()).toBe(false);
  expect(process.uncertainMs()).toBe(10_000);
  expect(process.after(1_000).check()).toBe(false);
  expect(process.uncertainMs()).toBe(11_000);
});

test('what nobody contradicts for a while counts as heard', () => {
  const process = start();
  process.after(10_000).check();
  expect(process.after(1_000).check()).toBe(false);
  expect(process.after(1_000).check()).toBe(false);
  expect(process.after(1_000).check()).toBe(true);
  expect(process.uncertainMs()).toBe(0);
});

test('sleeping again before that belongs to the same sleep', () => {
  const process = start();
  process.after(10_000).check();
  expect(process.after(10_000).check()).toBe(false);
  expect(process.uncertainMs()).toBe(20_000);
});

test('an end before the first look after the sleep knows of it', () => {
  const process = start();
  process.after(1_000).check();
  expect(process.after(7_000).uncertainMs()).toBe(7_000);
});
