import { describe, expect, test } from 'vitest';
import { expectedLife } from '../../test/slot-life.ts';
import { type SlotEvent, type SlotState, transition } from './slot.ts';

describe.each(Object.entries(expectedLife))('a slot that is %s', (state, events) => {
  test.each(Object.entries(events))('when %s', (event, after) => {
    expect(transition(state as SlotState, event as SlotEvent)).toBe(after);
  });
});
