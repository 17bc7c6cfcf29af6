import { reconcileSource } from './reconcile-source.ts';
import type { RegistrarStep } from './registrar-step.ts';

/** Removes upstream what nobody holds any more. Returns how many slots it dealt with. */
export async function removeReleased(step: RegistrarStep): Promise<number> {
  const { store, upstream, sourceId, lease, checkpoint, bells, pace } = step;
  const { batchMax, rulesPerCall } = upstream;
  const room = pace.room('change');
  // Until it is picked, a slot that is on its way out can be had again at once.
  if (room === 0) return 0;
  const slots = await store.beginDeleting(lease, sourceId, Math.min(batchMax, room * rulesPerCall));
  if (slots.length === 0) return 0;
  checkpoint('release.marked');
  const ids = slots.flatMap((slot) =>
    slot.upstreamRuleId !== null && !slot.foreignRule ? [slot.upstreamRuleId] : [],
  );
  if (ids.length > 0) await upstream.remove(ids, pace.call);
  checkpoint('release.removed_upstream');
  const settled = slots.filter((slot) => slot.upstreamRuleId !== null).map((slot) => slot.id);
  await store.recordGone(lease, settled);
  checkpoint('release.recorded');
  bells.ring('slot_outcomes');
  // A slot that was given up before its registration was recorded may be upstream all the same: look.
  if (settled.length < slots.length) await reconcileSource(step);
  return slots.length;
}
