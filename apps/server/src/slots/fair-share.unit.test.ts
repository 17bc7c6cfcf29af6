import { describe, expect, test } from 'vitest';
import { mayCall, msUntilCall, type SourceUse, shareRefusal } from './fair-share.sql.ts';

const unused: SourceUse = {
  sourceId: 'x:main',
  share: 0.5,
  capacity: 8,
  slots: 0,
  ownSlots: null,
  callsMax: 98,
  calls: 0,
  ownCalls: 0,
  ownWaiting: 0,
  rulesPerCall: 100,
  ownCallEndsMs: null,
};

/** How many of `all` each account gets if accounts take one after the other, as many as they may. */
function takeInTurn(all: number, mayTake: (own: number, total: number) => boolean): number[] {
  const taken: number[] = [];
  for (let total = 0; total < all; ) {
    let own = 0;
    while (total < all && mayTake(own, total)) {
      own++;
      total++;
    }
    if (own === 0) break;
    taken.push(own);
  }
  return taken;
}

describe('an account may have', () => {
  test('half of the slots that the others leave, and always a first one', () => {
    const mayTake = (ownSlots: number, slots: number) =>
      shareRefusal([{ ...unused, slots, ownSlots }]) === null;
    expect(takeInTurn(8, mayTake)).toEqual([4, 2, 1, 1]);
  });

  test('half of the slots of all sources together', () => {
    const uses = [
      { ...unused, ownSlots: 0 },
      { ...unused, sourceId: 'x:second', capacity: 4, slots: 2, ownSlots: 2 },
    ];
    expect(shareRefusal(uses)).toBeNull();
    const fuller = uses.map((use) => ({ ...use, slots: use.slots + 2, ownSlots: use.ownSlots + 2 }));
    expect(shareRefusal(fuller)).toEqual({
      kind: 'slots_share',
      limit: 6,
      used: 6,
    });
  });

  test('half of the calls that the others leave, and always a first one', () => {
    const mayTake = (ownCalls: number, calls: number) => mayCall({ ...unused, ownCalls, calls });
    expect(takeInTurn(98, mayTake).slice(0, 4)).toEqual([49, 25, 12, 6]);
    expect(mayTake(0, 98)).toBe(true);
  });

  test('all of them with a share of 100%', () => {
    const mayTake = (ownCalls: number, calls: number) => mayCall({ ...unused, share: 1, ownCalls, calls });
    expect(takeInTurn(98, mayTake)).toEqual([98]);
  });

  test('unlimited calls if the upstream has no limit', () => {
    expect(mayCall({ ...unused, callsMax: null, calls: 1e6, ownCalls: 1e6 })).toBe(true);
  });
});

test('a full upstream is not refused because of shares', () => {
  expect(shareRefusal([{ ...unused, slots: 8, ownSlots: 8 }])).toBeNull();
});

describe('waiting slots', () => {
  test('count as the calls that they will need', () => {
    expect(mayCall({ ...unused, ownWaiting: 4_899 })).toBe(true);
    expect(mayCall({ ...unused, ownWaiting: 4_900 })).toBe(false);
    expect(mayCall({ ...unused, rulesPerCall: 1, ownWaiting: 48 })).toBe(true);
    expect(mayCall({ ...unused, rulesPerCall: 1, ownWaiting: 49 })).toBe(false);
  });
});

test('the wait lasts until a call of the account leaves the window, on whichever source that happens first', () => {
  const spent = { ...unused, calls: 49, ownCalls: 49 };
  expect(
    msUntilCall([
      { ...spent, ownCallEndsMs: 700 },
      { ...spent, ownCallEndsMs: 300 },
    ]),
  ).toBe(300);
  expect(msUntilCall([{ ...spent, ownCallEndsMs: 700 }, unused])).toBe(0);
  expect(msUntilCall([{ ...unused, rulesPerCall: 1, ownWaiting: 60 }])).toBe(60_000);
});
