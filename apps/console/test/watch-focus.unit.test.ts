import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchFocus } from '../src/screens/authorize/watch-focus.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch(hasFocus: boolean) {
  const target = new EventTarget();
  const changes: boolean[] = [];
  const stop = watchFocus(
    target,
    () => hasFocus,
    (isSettled) => changes.push(isSettled),
  );
  return { changes, stop, emit: (type: 'focus' | 'blur') => target.dispatchEvent(new Event(type)) };
}

test('a page that opens with the focus is settled after half a second', () => {
  const { changes } = watch(true);
  vi.advanceTimersByTime(499);
  expect(changes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(changes).toEqual([true]);
});

test('a page that was covered is settled half a second after it gets the focus', () => {
  const { changes, emit } = watch(false);
  vi.advanceTimersByTime(10_000);
  expect(changes).toEqual([]);
  emit('focus');
  vi.advanceTimersByTime(499);
  expect(changes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(changes).toEqual([true]);
});

test('each loss of the focus begins the wait again', () => {
  const { changes, emit } = watch(true);
  vi.advanceTimersByTime(499);
  emit('blur');
  vi.advanceTimersByTime(500);
  expect(changes).toEqual([false]);
  emit('focus');
  vi.advanceTimersByTime(500);
  expect(changes).toEqual([false, true]);
});
