import { createHash } from 'node:crypto';
import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Lease } from '../engines/leases.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import {
  type AddOutcome,
  type UpstreamCall,
  type UpstreamRule,
  type UpstreamRules,
  UpstreamUnavailable,
} from '../upstream/upstream-rules.ts';
import type { Pace } from './pace.ts';
import { type Reconciliation, reconcile } from './reconcile.ts';
import type { RegisteredSlot, RegistrarStore, WantedSlot } from './registrar.sql.ts';
import { type Slot, slotOfTag, slotTag } from './slot.ts';

/** What one step of a registrar needs while it holds the lease of its source. */
export interface RegistrarStep {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly installation: string;
  readonly upstream: UpstreamRules;
  readonly store: RegistrarStore;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly telemetry: Telemetry;
  readonly lease: Lease;
  readonly pace: Pace;
  /** The last comparison, if it changed nothing. */
  readonly quiet: { last: QuietComparison | null };
}

interface QuietComparison {
  /** A hash of the compared state. If it is the same again, nothing must change. */
  readonly fingerprint: string;
  readonly plan: Reconciliation;
}

/** The most slots that a draining source moves away per comparison. */
const movedAtOnce = 500;

export interface ComparisonResult {
  /** The number of our rules that the upstream has now. */
  readonly ours: number;
  /** The calls that the list needed. */
  readonly calls: number;
}

/** Lists the upstream's rules, and makes the upstream and the rows agree with the slots. */
export async function reconcileSource(step: RegistrarStep): Promise<ComparisonResult> {
  const { store, upstream, sourceId, lease, telemetry, bells, pace } = step;
  const listedAt = performance.now();
  let calls = 0;
  const permit: UpstreamCall['permit'] = async (kind) => {
    await pace.call.permit(kind);
    calls++;
  };
  const listed = await upstream.list({ ...pace.call, permit });
  const { plan, wanted } = await compare(step, listed);
  await removeInBatches(upstream, plan.remove, pace.call);
  await store.recordRegistered(
    lease,
    plan.adopt.map((adopted) => ({ ...adopted, foreignRule: false })),
  );
  await store.recordCompared(lease, wanted);
  await store.recordVanished(lease, plan.vanished);
  await store.takeBack(lease, sourceId, plan.lost);
  await store.recordGone(lease, plan.gone);
  await store.recordSeen(lease, sourceId, performance.now() - listedAt);
  await store.retryFailed(lease, sourceId);
  const moved = await store.moveAway(lease, sourceId, movedAtOnce);
  telemetry.reconciled({
    sourceId,
    moved,
    adopted: plan.adopt.length,
    vanished: plan.vanished.length,
    removed: plan.remove.length,
    gone: plan.gone.length,
    foreign: plan.foreign,
    unused: plan.unused,
  });
  if (moved > 0) bells.ring('slots');
  if (plan.adopt.length > 0) bells.ring('streams');
  bells.ring('slot_outcomes');
  return { ours: listed.length - plan.foreign - plan.remove.length, calls };
}

/** Moves the slots of a draining source away without a call to its upstream, which refuses the token or has none. */
export async function drainWithoutUpstream({
  store,
  lease,
  sourceId,
  bells,
  telemetry,
}: Pick<RegistrarStep, 'store' | 'lease' | 'sourceId' | 'bells' | 'telemetry'>): Promise<void> {
  const moved = await store.drain(lease, sourceId, movedAtOnce);
  if (moved === 0) return;
  telemetry.drainedWithoutUpstream({ sourceId, moved });
  bells.ring('slots');
}

/** Reads the slots after the list. There may be tens of thousands, so they are compared only if something has changed. */
async function compare(
  { store, installation, sourceId, quiet }: RegistrarStep,
  listed: readonly UpstreamRule[],
): Promise<{ plan: Reconciliation; wanted: readonly string[] }> {
  const moving = await store.movedFrom(sourceId);
  const upstream = JSON.stringify([listed, moving]);
  const fingerprintWith = (slots: string | null) =>
    createHash('sha256').update(upstream).update(String(slots)).digest('base64');
  if (quiet.last?.fingerprint === fingerprintWith(await store.fingerprint(sourceId)))
    return { plan: quiet.last.plan, wanted: [] };
  const { slots, fingerprint } = await store.slotsOf(sourceId);
  const plan = reconcile(installation, listed, slots, moving);
  const wanted = slots.filter(({ state }) => state === 'wanted').map(({ id }) => id);
  const { adopt, vanished, remove, lost, gone } = plan;
  const isQuiet = [adopt, vanished, remove, lost, gone, wanted].every(({ length }) => length === 0);
  quiet.last = isQuiet ? { fingerprint: fingerprintWith(fingerprint), plan } : null;
  return { plan, wanted };
}

/** Removes any number of rules. */
export async function removeInBatches(
  upstream: Pick<UpstreamRules, 'remove' | 'batchMax'>,
  ids: readonly string[],
  call: UpstreamCall,
): Promise<void> {
  for (let at = 0; at < ids.length; at += upstream.batchMax)
    await upstream.remove(ids.slice(at, at + upstream.batchMax), call);
}

/** Registers one batch of slots. Returns how many slots it handled. */
export async function registerWanted(step: RegistrarStep): Promise<number> {
  const { upstream, installation, checkpoint, bells, pace } = step;
  const slots = await collectWanted(step);
  if (slots.length === 0) return 0;
  checkpoint('register.picked');
  const outcomes = await upstream.add(
    slots.map(({ id, value, options }) => ({ value, options, tag: slotTag(installation, id) })),
    pace.callFor(slots.flatMap(({ accountId }) => accountId ?? [])),
  );
  checkpoint('register.added_upstream');
  const unsettled = await recordOutcomes(step, pairOutcomes(slots, outcomes));
  checkpoint('register.recorded');
  bells.ring('streams');
  bells.ring('slot_outcomes');
  if (unsettled > 0) throw new UpstreamUnavailable('the upstream already has the rule, but not as ours');
  return slots.length;
}

async function collectWanted({ store, sourceId, upstream, pace }: RegistrarStep): Promise<WantedSlot[]> {
  const { batchMax, rulesPerCall } = upstream;
  // A batch that needs several calls takes only as many slots as there are calls left.
  const limit = rulesPerCall > 1 ? batchMax : Math.max(1, Math.min(batchMax, pace.room('change')));
  const slots = await store.wanted(sourceId, limit);
  if (slots.length === 0 || slots.length >= limit || rulesPerCall === 1) return slots;
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
  const { store, lease, sourceId, telemetry } = step;
  const registered: RegisteredSlot[] = [];
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
  telemetry.slotsRegistered({ sourceId, count: registered.length });
  if (full.length > 0) await settleFull(step, full, fullWords);
  return duplicates.length - adopted.length;
}

/**
 * The existing rule keeps its tag, which the list contains. A rule with the tag of another slot of ours is not adopted, because its events
 * would belong to that slot. The next comparison removes it.
 */
async function adoptDuplicates(
  { upstream, installation, pace }: RegistrarStep,
  slots: readonly Slot[],
): Promise<RegisteredSlot[]> {
  const byValue = new Map((await upstream.list(pace.call)).map((rule) => [rule.value, rule]));
  return slots.flatMap((slot) => {
    const rule = byValue.get(slot.value);
    if (!rule) return [];
    const taggedSlot = slotOfTag(installation, rule.tag);
    if (taggedSlot !== null && taggedSlot !== slot.id) return [];
    return [{ slotId: slot.id, upstreamRuleId: rule.id, foreignRule: taggedSlot === null }];
  });
}

/** Removes upstream rules that no rule holds any more. Returns how many slots it handled. */
export async function removeReleased(step: RegistrarStep): Promise<number> {
  const { pace } = step;
  return await removePicked(step, { onlyStopped: false, room: pace.removalRoom(), call: pace.removal });
}

/** The same for rules that a budget stopped. Uses reserved calls, so it runs before everything that may wait for calls. */
export async function removeStopped(step: RegistrarStep): Promise<number> {
  const { pace } = step;
  return await removePicked(step, { onlyStopped: true, room: pace.stopRoom(), call: pace.stop });
}

interface Removal {
  readonly onlyStopped: boolean;
  readonly room: number;
  readonly call: UpstreamCall;
}

async function removePicked(step: RegistrarStep, { onlyStopped, room, call }: Removal): Promise<number> {
  const { store, upstream, sourceId, lease, checkpoint } = step;
  const { batchMax, rulesPerCall } = upstream;
  // Without a call to remove it, a slot is not picked: until then a new holder can take it at once.
  if (room === 0) return 0;
  const limit = Math.min(batchMax, room * rulesPerCall);
  const slots = await store.beginDeleting(lease, { sourceId, onlyStopped, limit });
  if (slots.length === 0) return 0;
  checkpoint('release.marked');
  const ids = slots.flatMap((slot) =>
    slot.upstreamRuleId !== null && !slot.foreignRule ? [slot.upstreamRuleId] : [],
  );
  if (ids.length > 0) await upstream.remove(ids, call);
  checkpoint('release.removed_upstream');
  const settled = slots.filter((slot) => slot.upstreamRuleId !== null).map((slot) => slot.id);
  await store.recordGone(lease, settled);
  checkpoint('release.recorded');
  // A slot that was released before its registration was recorded may still be upstream: compare.
  if (settled.length < slots.length) await reconcileSource(step);
  return slots.length;
}

/**
 * Requests from the upstream how many rules it accepts beside the `ours` that it has. Foreign rules on the source or in its project count
 * too, so the answer changes with time.
 */
export async function learnCapacity(step: RegistrarStep, ours: number): Promise<void> {
  const { store, lease, sourceId } = step;
  const room = await readRoom(step);
  await store.recordCapacity(lease, sourceId, room === null ? null : ours + room);
}

/** The upstream had no room for these slots, which were sent in one call. Some may fit; the others move to other sources. */
async function settleFull(step: RegistrarStep, slots: readonly Slot[], words: string): Promise<void> {
  const { upstream, installation, pace, store, lease, sourceId, bells, telemetry } = step;
  const listed = await upstream.list(pace.call);
  const ours = listed.flatMap(({ tag }) => slotOfTag(installation, tag) ?? []);
  // A late call by the lease's former holder may have registered one of the slots. The next comparison adopts its rule.
  if (slots.some(({ id }) => ours.includes(id))) {
    throw new UpstreamUnavailable('the upstream is full, and has a rule that was not recorded');
  }
  const room = (await readRoom(step)) ?? 0;
  // If the upstream refuses what it says would fit, the refusal counts. Otherwise the same call would repeat forever.
  const fits = room < slots.length ? room : 0;
  const excess = slots.slice(fits).map(({ id }) => id);
  const moved = await store.recordFull(lease, {
    sourceId,
    slotIds: excess,
    learnt: ours.length + fits,
    words,
  });
  telemetry.sourceFull({ sourceId, takes: ours.length + fits, moved, failed: excess.length - moved });
  if (moved > 0) bells.ring('slots');
}

/** Null if the upstream does not report it, or cannot be reached: nothing depends on the answer. */
async function readRoom({ upstream, pace }: RegistrarStep): Promise<number | null> {
  try {
    return await upstream.room(pace.call);
  } catch (error) {
    if (error instanceof UpstreamUnavailable) return null;
    throw error;
  }
}
