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

test('a process that checks every second was not suspended', () => {
  const process = start();
  for (let second = 0; second < 60; second++) expect(process.after(1_000).check()).toBe(true);
  expect(process.after(900).uncertainMs()).toBe(0);
});

test('a late check makes the time since the last check uncertain', () => {
  const process = start();
  process.after(1_000).check();
  expect(process.after(10_000).check()).toBe(false);
  expect(process.uncertainMs()).toBe(10_000);
  expect(process.after(1_000).check()).toBe(false);
  expect(process.uncertainMs()).toBe(11_000);
});

test('uncertain time counts as received after a while without an end', () => {
  const process = start();
  process.after(10_000).check();
  expect(process.after(1_000).check()).toBe(false);
  expect(process.after(1_000).check()).toBe(false);
  expect(process.after(1_000).check()).toBe(true);
  expect(process.uncertainMs()).toBe(0);
});

test('a second suspension before that extends the first', () => {
  const process = start();
  process.after(10_000).check();
  expect(process.after(10_000).check()).toBe(false);
  expect(process.uncertainMs()).toBe(20_000);
});

test('an end before the first check after a suspension is uncertain', () => {
  const process = start();
  process.after(1_000).check();
  expect(process.after(7_000).uncertainMs()).toBe(7_000);
});
