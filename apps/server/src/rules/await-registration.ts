import type { Platform, Violation } from '@earshot/contract';
import type { BellListener } from '../engines/bells.ts';
import { Failure } from '../runtime/failure.ts';
import type { HeldSlot } from '../slots/slot-holding.sql.ts';
import { whatToDo } from '../upstream/protocol.ts';
import { isBlocking } from '../upstream/upstream-rules.ts';

/** How long the upstreams may take to confirm. */
const confirmWithinMs = 15_000;
/** The first rule of a source opens its stream. A short wait ensures that events after the answer are received. */
const liveWithinMs = 3_000;
const pollIntervalMs = 500;
/** The total time that a creation or change waits. */
export const answerWithinMs = confirmWithinMs + liveWithinMs;

/** Reads the slots to wait for. */
type ReadSlots = () => Promise<HeldSlot[]>;

/** Whether all of these slots are registered upstream. */
export function areRegistered(slots: readonly HeldSlot[]): boolean {
  return slots.every(({ state }) => state === 'registered');
}

/** Whether registration needs a person to act: waiting is pointless. */
function isBlocked({ state, problemKind }: HeldSlot): boolean {
  return state !== 'registered' && isBlocking(problemKind);
}

/** `seen` is the last read state of the slots. */
export async function awaitRegistration(
  seen: HeldSlot[],
  readSlots: ReadSlots,
  outcomes: BellListener,
): Promise<HeldSlot[]> {
  const settled = (slots: readonly HeldSlot[]) =>
    areRegistered(slots) || slots.some((slot) => slot.state === 'failed' || isBlocked(slot));
  if (areRegistered(seen)) return seen;
  return await awaitSlots(readSlots, settled, { outcomes, withinMs: confirmWithinMs });
}

export async function awaitLive(
  seen: readonly HeldSlot[],
  readSlots: ReadSlots,
  outcomes: BellListener,
): Promise<readonly HeldSlot[]> {
  const allLive = (slots: readonly HeldSlot[]) => slots.every(({ live }) => live);
  if (allLive(seen)) return seen;
  return await awaitSlots(readSlots, allLive, { outcomes, withinMs: liveWithinMs });
}

/** Polls until `done` returns true or the time is up, and returns the last read state. */
async function awaitSlots<Seen>(
  readSlots: () => Promise<Seen>,
  done: (seen: Seen) => boolean,
  { outcomes, withinMs }: { outcomes: BellListener; withinMs: number },
): Promise<Seen> {
  const deadline = performance.now() + withinMs;
  const never = new AbortController().signal;
  for (;;) {
    const seen = await readSlots();
    const leftMs = deadline - performance.now();
    if (done(seen) || leftMs <= 0) return seen;
    await outcomes.wait(Math.min(pollIntervalMs, leftMs), never);
  }
}

/** The failure if not all slots are registered. `undone` describes the consequence for the caller. */
export function failureOf(slots: readonly HeldSlot[], undone = 'nothing was created'): Failure | null {
  for (const { platform, state, problem, problemKind } of slots) {
    if (state !== 'failed') continue;
    if (problemKind === 'full') {
      return new Failure('resource_exhausted', `${platform} accepts no more rules: ${problem ?? ''}`, {
        details: { reason: 'capacity', platform },
      });
    }
    return new Failure('invalid_argument', `${platform} refused the rule: ${problem ?? ''}`, {
      details: { platform, violations: [upstreamViolation(platform, problem ?? '')] },
    });
  }
  const waiting = slots.find(({ state }) => state !== 'registered');
  if (!waiting) return null;
  const { platform, problem, problemKind } = waiting;
  if (isBlocking(problemKind)) {
    const what = whatToDo[problemKind];
    return new Failure(
      'failed_precondition',
      `${platform} accepts no rules: ${problem}; ${undone}. ${what}`,
      {
        details: { platform, reason: problemKind, what_to_do: what },
      },
    );
  }
  return problem === null
    ? new Failure(
        'deadline_exceeded',
        `${platform} did not confirm the rule in time; ${undone}. Send the request again.`,
        {
          details: { platform },
        },
      )
    : new Failure(
        'unavailable',
        `${platform} cannot register rules at the moment; ${undone}. Try again in 30 s.`,
        {
          details: { platform, reason: 'platform' },
          retryAfterSeconds: 30,
          cause: problem,
        },
      );
}

function upstreamViolation(platform: Platform, words: string): Violation {
  return { field: `overrides.${platform}`, code: 'upstream_rejected', message: words };
}
