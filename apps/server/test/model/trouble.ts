import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import { type ModelSource, smallSource, sources } from './model-world.ts';
import { createRule, deleteRule } from './rule-actions.ts';
import { isAcknowledged, isOurs, keyOf, type Run, replaceRegistrar } from './run.ts';

/** Faults of registrars and their leases, and manual changes at the upstream's dashboard. */

export async function crash(run: Run, source: ModelSource, midCall: boolean): Promise<void> {
  const registrar = run.registrars.get(source.id);
  if (!registrar) return;
  if (midCall) {
    registrar.dieAfterNextChange();
    await createRule(run, 'grove', [source.platform], registrar.death);
  }
  registrar.die();
  await replaceRegistrar(run, source);
}

/** The source of the platform that gets the work is the one that is paused. */
export async function freeze(
  run: Run,
  { platform, word, undo }: { platform: Platform; word: string; undo: boolean },
): Promise<void> {
  const candidates = sources.filter((source) => source.platform === platform);
  const frozen = candidates.map(async (source) => {
    await run.registrars.get(source.id)?.freezeAtNextChange();
    return source;
  });
  const creation = createRule(run, word, [platform]);
  const source = await Promise.race([...frozen, creation.then(() => null)]);
  for (const other of candidates) if (other !== source) await run.registrars.get(other.id)?.thaw();
  const old = source && run.registrars.get(source.id);
  if (!source || !old) return void (await creation);
  const before = await epochOf(run, source);
  await replaceRegistrar(run, source);
  await eventually(async () => expect(await epochOf(run, source)).toBeGreaterThan(before), {
    timeoutMs: 5_000,
    intervalMs: 5,
  });
  old.retire();
  run.happened.add('frozen');
  const rule = (await creation) ?? (await createRule(run, word, [platform]));
  if (undo && rule) await deleteRule(run, rule);
  await old.thaw();
  // It would wait for the lease to return to it, and then changes would be allowed.
  await old.stop();
}

async function epochOf({ world }: Run, source: ModelSource): Promise<number> {
  const lease = await world.database.one<{ epoch: number }>('select epoch from leases where name = $1', [
    `registrar:${source.id}`,
  ]);
  return lease?.epoch ?? 0;
}

export async function drain(run: Run, source: ModelSource): Promise<void> {
  const others = sources.filter((one) => one.platform === source.platform && one !== source);
  if (others.some(({ id }) => run.drained.has(id)) || run.drained.has(source.id)) return;
  const slots = await run.world.database.many<{ id: string; value: string }>(
    `select id, value from slots where source_id = $1 and state = 'registered' and not foreign_rule`,
    [source.id],
  );
  run.drained.add(source.id);
  for (const { id, value } of slots) {
    const key = keyOf(source.platform, value);
    if (isAcknowledged(run, key)) run.leaving.set(id, { source, key });
  }
  await run.world.drain(source, true);
  await wait(20);
}

export async function undrain(run: Run): Promise<void> {
  for (const source of sources) if (run.drained.has(source.id)) await run.world.drain(source, false);
  run.drained.clear();
}

export async function vanish(run: Run, platform: Platform, word: string): Promise<void> {
  for (const source of sources.filter((one) => one.platform === platform)) {
    const gone = (await run.world.upstreamRules(source)).filter(({ value }) => value === word);
    for (const { id } of gone) {
      const index = run.foreign.findIndex((one) => one.source === source && one.id === id);
      if (index >= 0) run.foreign.splice(index, 1);
      await recordDeletionByHand(run, source, { id, key: keyOf(platform, word) });
    }
  }
  run.disturbed.add(keyOf(platform, word));
  await run.world.arm({ kind: 'rules_vanish', platform, contains: word });
}

export async function deleteByHand(run: Run, source: ModelSource, which: number): Promise<void> {
  const ours = (await run.world.upstreamRules(source)).filter((rule) => isOurs(run, rule));
  const rule = ours[which % Math.max(1, ours.length)];
  if (!rule) return;
  run.disturbed.add(keyOf(source.platform, rule.value));
  await recordDeletionByHand(run, source, { id: rule.id, key: keyOf(source.platform, rule.value) });
  await run.world.changeByHand(source, { remove: rule.id }).catch(ignoreArmedFault);
}

async function recordDeletionByHand(
  run: Run,
  source: ModelSource,
  { id, key }: { id: string; key: string },
): Promise<void> {
  if (!isAcknowledged(run, key)) return;
  const slot = await run.world.database.one<{ id: string }>(
    `select id from slots where source_id = $1 and upstream_rule_id = $2 and state = 'registered'`,
    [source.id, id],
  );
  if (slot) run.takenAway.push({ slotId: slot.id, upstreamRuleId: id, key });
}

export async function addByHand(run: Run, source: ModelSource, word: string): Promise<void> {
  if (source.id === smallSource) return;
  const before = new Set((await run.world.upstreamRules(source)).map(({ id }) => id));
  await run.world.changeByHand(source, { add: word }).catch(ignoreArmedFault);
  for (const rule of await run.world.upstreamRules(source)) {
    if (!before.has(rule.id) && !isOurs(run, rule)) run.foreign.push({ source, id: rule.id });
  }
}

/** Manual changes meet the same faults as ours. */
function ignoreArmedFault(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'UpstreamUnavailable') throw error;
}
