import { type AddOutcome, UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import { settleFull } from './learn-capacity.ts';
import type { RegistrarStep } from './registrar-step.ts';
import { type Slot, slotOfTag, slotTag } from './slot.ts';
import type { Registered } from './slot-store.ts';

/** One call for all that is wanted, as far as it fits. Returns how many slots it dealt with. */
export async function registerWanted(step: RegistrarStep): Promise<number> {
  const { upstream, installation, checkpoint, bells, pace } = step;
  const slots = await collectWanted(step);
  if (slots.length === 0) return 0;
  checkpoint('register.picked');
  const outcomes = await upstream.add(
    slots.map((slot) => ({ value: slot.value, tag: slotTag(installation, slot.id) })),
    pace.call,
  );
  checkpoint('register.added_upstream');
  const unsettled = await recordOutcomes(step, pairOutcomes(slots, outcomes));
  checkpoint('register.recorded');
  bells.ring('slot_outcomes');
  bells.ring('streams');
  if (unsettled > 0) throw new UpstreamUnavailable('the upstream has the rule already, but not as ours');
  return slots.length;
}

async function collectWanted({ store, sourceId, upstream, pace }: RegistrarStep): Promise<Slot[]> {
  const { batchMax, rulesPerCall } = upstream;
  // A batch that needs several calls begins only with what can be ended.
  const limit = rulesPerCall > 1 ? batchMax : Math.max(1, Math.min(batchMax, pace.room('change')));
  const slots = await store.wanted(sourceId, limit);
  if (slots.length === 0 || slots.length === limit || rulesPerCall === 1) return slots;
  await pace.collect('change');
  return await store.wanted(sourceId, limit);
}

type PairedOutcome = readonly [slot: Slot, outcome: AddOutcome];

function pairOutcomes(slots: readonly Slot[], outcomes: readonly AddOutcome[]): PairedOutcome[] {
  return slots.flatMap((slot, index) => {
    const outcome = outcomes[index];
    return outcome ? [[slot, outcome] as const] : [];
  });
}

/** Returns how many duplicates could not be adopted. */
async function recordOutcomes(step: RegistrarStep, paired: readonly PairedOutcome[]): Promise<number> {
  const { store, lease, sourceId, events } = step;
  const registered: Registered[] = [];
  const duplicates: Slot[] = [];
  const full: Slot[] = [];
  let fullWords = '';
  for (const [slot, outcome] of paired) {
    switch (outcome.kind) {
      case 'added':
        registered.push({ slotId: slot.id, upstreamRuleId: outcome.id, foreignRule: false });
        break;
      case 'duplicate':
        duplicates.push(slot);
        break;
      case 'refused':
        await store.recordProblem(lease, [slot.id], { kind: 'refused', words: outcome.words });
        break;
      case 'full':
        full.push(slot);
        fullWords = outcome.words;
        break;
    }
  }
  const adopted = duplicates.length > 0 ? await adoptDuplicates(step, duplicates) : [];
  registered.push(...adopted);
  await store.recordRegistered(lease, registered);
  events.slotsRegistered({ sourceId, count: registered.length });
  if (full.length > 0) await settleFull(step, full, fullWords);
  return duplicates.length - adopted.length;
}

/**
 * The existing rule keeps the tag it had: the list tells whose it is. One that bears the tag of another slot of
 * ours is a leftover, which the next reconciliation removes: its events would look for that other slot.
 */
async function adoptDuplicates(
  { upstream, installation, pace }: RegistrarStep,
  slots: readonly Slot[],
): Promise<Registered[]> {
  const byValue = new Map((await upstream.list(pace.call)).map((rule) => [rule.value, rule]));
  return slots.flatMap((slot) => {
    const rule = byValue.get(slot.value);
    if (!rule) return [];
    const taggedSlot = slotOfTag(installation, rule.tag);
    if (taggedSlot !== null && taggedSlot !== slot.id) return [];
    return [{ slotId: slot.id, upstreamRuleId: rule.id, foreignRule: taggedSlot === null }];
  });
}
