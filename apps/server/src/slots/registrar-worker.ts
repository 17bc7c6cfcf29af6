import type { Platform } from '@earshot/contract';
import type { Events } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Bells } from '../runtime/bell.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { type Lease, type LeaseStore, runUnderLease } from '../runtime/lease.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';
import { reconcile } from './reconcile.ts';
import { type Slot, slotOfTag, slotTag } from './slot.ts';
import type { Registered, RegistrarStore } from './slot-store.ts';
import { type AddOutcome, type UpstreamRules, UpstreamUnavailable } from './upstream-rules.ts';

const reconcileEveryMs = 30_000;
const lookAgainMs = 1_000;
const retryDelayMs = 1_000;

export interface RegistrarOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly installation: string;
  readonly upstream: UpstreamRules;
  readonly store: RegistrarStore;
  readonly bells: Bells;
  readonly leases: LeaseStore;
  readonly node: string;
  readonly leaseTtlMs: number;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
  readonly log: Logger;
}

/**
 * Keeps one source's upstream rules equal to its slots. Everything that changes the upstream happens here, one
 * step after the other, so a list and a change never interleave. After any doubt (start, lost answer, every
 * 30 s) it lists before it changes anything again.
 */
export function createRegistrarWorker(options: RegistrarOptions): Worker {
  const name = `registrar:${options.sourceId}`;
  return {
    name,
    run: (signal) =>
      runUnderLease(
        {
          store: options.leases,
          name,
          holder: options.node,
          ttlMs: options.leaseTtlMs,
          log: options.log,
        },
        signal,
        (lease, held) => keepInStep(options, lease, held),
      ),
  };
}

async function keepInStep(options: RegistrarOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  using bell = options.bells.listen('slots');
  let reconcileAt = 0;
  while (!signal.aborted) {
    try {
      if (performance.now() >= reconcileAt) {
        await reconcileOnce(options, lease, signal);
        reconcileAt = performance.now() + reconcileEveryMs;
      }
      const worked =
        (await registerWanted(options, lease, signal)) + (await removeReleased(options, lease, signal));
      if (worked === 0) await bell.wait(Math.min(lookAgainMs, reconcileEveryMs), signal);
    } catch (error) {
      if (!(error instanceof UpstreamUnavailable)) throw error;
      // The call was cut off by our own end, which is no trouble of the upstream.
      if (signal.aborted) return;
      reconcileAt = 0;
      await waitOutTrouble(options, lease, error, signal);
    }
  }
}

/** Those who wait for a slot learn what keeps it. */
async function waitOutTrouble(
  { store, sourceId, upstream, bells, events, platform }: RegistrarOptions,
  lease: Lease,
  error: UpstreamUnavailable,
  signal: AbortSignal,
): Promise<void> {
  events.upstreamRulesFailed({ platform, sourceId, err: error });
  const waiting = await store.wanted(sourceId, upstream.batchMax);
  await store.recordProblem(
    lease,
    waiting.map((slot) => slot.id),
    { kind: 'unavailable', words: error.message },
  );
  bells.ring('slot_outcomes');
  await pause(Math.max(retryDelayMs, error.retryAfterMs ?? 0), signal);
}

async function registerWanted(options: RegistrarOptions, lease: Lease, signal: AbortSignal): Promise<number> {
  const { store, upstream, installation, sourceId, checkpoint, bells } = options;
  const slots = await store.wanted(sourceId, upstream.batchMax);
  if (slots.length === 0) return 0;
  checkpoint('register.picked');
  const outcomes = await upstream.add(
    slots.map((slot) => ({ value: slot.value, tag: slotTag(installation, slot.id) })),
    signal,
  );
  checkpoint('register.added_upstream');
  const unsettled = await recordOutcomes(options, lease, pairOutcomes(slots, outcomes), signal);
  checkpoint('register.recorded');
  bells.ring('slot_outcomes');
  bells.ring('streams');
  if (unsettled > 0) throw new UpstreamUnavailable('the upstream has the rule already, but not as ours');
  return slots.length;
}

type PairedOutcome = readonly [slot: Slot, outcome: AddOutcome];

function pairOutcomes(slots: readonly Slot[], outcomes: readonly AddOutcome[]): PairedOutcome[] {
  return slots.flatMap((slot, index) => {
    const outcome = outcomes[index];
    return outcome ? [[slot, outcome] as const] : [];
  });
}

/** Returns how many duplicates could not be adopted. */
async function recordOutcomes(
  options: RegistrarOptions,
  lease: Lease,
  paired: readonly PairedOutcome[],
  signal: AbortSignal,
): Promise<number> {
  const registered: Registered[] = [];
  const duplicates: Slot[] = [];
  for (const [slot, outcome] of paired) {
    switch (outcome.kind) {
      case 'added':
        registered.push({ slotId: slot.id, upstreamRuleId: outcome.id, foreignRule: false });
        break;
      case 'duplicate':
        duplicates.push(slot);
        break;
      case 'refused':
      case 'full':
        await options.store.recordProblem(lease, [slot.id], { kind: outcome.kind, words: outcome.words });
        break;
    }
  }
  const adopted = duplicates.length > 0 ? await adoptDuplicates(options, duplicates, signal) : [];
  registered.push(...adopted);
  await options.store.recordRegistered(lease, registered);
  options.events.slotsRegistered({ sourceId: options.sourceId, count: registered.length });
  return duplicates.length - adopted.length;
}

/**
 * The existing rule keeps the tag it had: the list tells whose it is. One that bears the tag of another slot of
 * ours is a leftover, which the next reconciliation removes: its events would look for that other slot.
 */
async function adoptDuplicates(
  { upstream, installation }: RegistrarOptions,
  slots: readonly Slot[],
  signal: AbortSignal,
): Promise<Registered[]> {
  const byValue = new Map((await upstream.list(signal)).map((rule) => [rule.value, rule]));
  return slots.flatMap((slot) => {
    const rule = byValue.get(slot.value);
    if (!rule) return [];
    const taggedSlot = slotOfTag(installation, rule.tag);
    if (taggedSlot !== null && taggedSlot !== slot.id) return [];
    return [{ slotId: slot.id, upstreamRuleId: rule.id, foreignRule: taggedSlot === null }];
  });
}

async function removeReleased(options: RegistrarOptions, lease: Lease, signal: AbortSignal): Promise<number> {
  const { store, upstream, sourceId, checkpoint } = options;
  const slots = await store.beginDeleting(lease, sourceId, upstream.batchMax);
  if (slots.length === 0) return 0;
  checkpoint('release.marked');
  const ids = slots.flatMap((slot) =>
    slot.upstreamRuleId !== null && !slot.foreignRule ? [slot.upstreamRuleId] : [],
  );
  if (ids.length > 0) await upstream.remove(ids, signal);
  checkpoint('release.removed_upstream');
  const settled = slots.filter((slot) => slot.upstreamRuleId !== null).map((slot) => slot.id);
  await store.recordGone(lease, settled);
  checkpoint('release.recorded');
  options.bells.ring('slot_outcomes');
  // A slot that was given up before its registration was recorded may be upstream all the same: look.
  if (settled.length < slots.length) await reconcileOnce(options, lease, signal);
  return slots.length;
}

async function reconcileOnce(options: RegistrarOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  const { store, upstream, installation, sourceId, events, bells } = options;
  const listed = await upstream.list(signal);
  const plan = reconcile(installation, listed, await store.slotsOf(sourceId));
  for (let at = 0; at < plan.remove.length; at += upstream.batchMax) {
    await upstream.remove(plan.remove.slice(at, at + upstream.batchMax), signal);
  }
  await store.recordRegistered(
    lease,
    plan.adopt.map((adopted) => ({ ...adopted, foreignRule: false })),
  );
  await store.recordVanished(lease, plan.vanished);
  await store.recordGone(lease, plan.gone);
  events.reconciled({
    sourceId,
    adopted: plan.adopt.length,
    vanished: plan.vanished.length,
    removed: plan.remove.length,
    gone: plan.gone.length,
    foreign: plan.foreign,
  });
  if (plan.adopt.length > 0) bells.ring('streams');
  bells.ring('slot_outcomes');
}
