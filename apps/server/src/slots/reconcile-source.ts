import { reconcile } from './reconcile.ts';
import type { RegistrarStep } from './registrar-step.ts';

/** A draining source hands over this many slots at a time. */
const movedAtOnce = 500;

/** Lists what the upstream has, and brings both sides to what the slots say. Returns how many rules of ours it has now. */
export async function reconcileSource(step: RegistrarStep): Promise<number> {
  const { store, upstream, installation, sourceId, lease, events, bells, pace } = step;
  const listedAt = performance.now();
  const listed = await upstream.list(pace.call);
  const slots = await store.slotsOf(sourceId);
  const plan = reconcile(installation, listed, slots, await store.movedFrom(sourceId));
  for (let at = 0; at < plan.remove.length; at += upstream.batchMax) {
    await upstream.remove(plan.remove.slice(at, at + upstream.batchMax), pace.call);
  }
  await store.recordRegistered(
    lease,
    plan.adopt.map((adopted) => ({ ...adopted, foreignRule: false })),
  );
  await store.recordCompared(
    lease,
    slots.filter(({ state }) => state === 'wanted').map(({ id }) => id),
  );
  await store.recordVanished(lease, plan.vanished);
  await store.takeBack(lease, sourceId, plan.lost);
  await store.recordGone(lease, plan.gone);
  await store.recordSeen(lease, sourceId, performance.now() - listedAt);
  await store.retryFailed(lease, sourceId);
  const moved = await store.moveAway(lease, sourceId, movedAtOnce);
  events.reconciled({
    sourceId,
    moved,
    adopted: plan.adopt.length,
    vanished: plan.vanished.length,
    removed: plan.remove.length,
    gone: plan.gone.length,
    foreign: plan.foreign,
  });
  if (moved > 0) bells.ring('slots');
  if (plan.adopt.length > 0) bells.ring('streams');
  bells.ring('slot_outcomes');
  return listed.length - plan.foreign - plan.remove.length;
}
