import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import type { RegistrarStep } from './registrar-step.ts';
import { type Slot, slotOfTag } from './slot.ts';

/**
 * Asks the upstream how many more rules it takes beside the `ours` it has. Rules of others, on the source or in its
 * project, take places too, so the answer is about now.
 */
export async function learnCapacity(step: RegistrarStep, ours: number): Promise<void> {
  const { store, lease, sourceId } = step;
  const room = await askRoom(step);
  await store.recordCapacity(lease, sourceId, room === null ? null : ours + room);
}

/** The upstream did not take these slots, which it was asked for at once: some may fit, the others go elsewhere. */
export async function settleFull(step: RegistrarStep, slots: readonly Slot[], words: string): Promise<void> {
  const { upstream, installation, pace, store, lease, sourceId, bells, events } = step;
  const listed = await upstream.list(pace.call);
  const ours = listed.flatMap(({ tag }) => slotOfTag(installation, tag) ?? []);
  // A former holder's late call can have taken the place for the same slot: the next comparison adopts its rule.
  if (slots.some(({ id }) => ours.includes(id))) {
    throw new UpstreamUnavailable('the upstream is full, and has a rule of which we did not know');
  }
  const room = (await askRoom(step)) ?? 0;
  // A refusal of no more than what is said to fit is believed more than the number: otherwise it would never end.
  const fits = room < slots.length ? room : 0;
  const excess = slots.slice(fits).map(({ id }) => id);
  const moved = await store.recordFull(lease, {
    sourceId,
    slotIds: excess,
    learnt: ours.length + fits,
    words,
  });
  events.sourceFull({ sourceId, takes: ours.length + fits, moved, failed: excess.length - moved });
  if (moved > 0) bells.ring('slots');
}

/** It is good to know, no more: whatever keeps the upstream from saying it is no trouble. */
async function askRoom({ upstream, pace }: RegistrarStep): Promise<number | null> {
  try {
    return await upstream.room(pace.call);
  } catch (error) {
    if (error instanceof UpstreamUnavailable) return null;
    throw error;
  }
}
