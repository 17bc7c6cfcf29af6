import type { Platform } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import { slotOfTag } from '../../src/slots/slot.ts';
import { changeBy, created } from '../changes.ts';
import { beginRule } from '../upstream-world.ts';
import type { Command } from './commands.ts';
import { capacity, type ModelSource, type ModelWorld, type SandboxRule, sources } from './model-world.ts';
import { type MortalRegistrar, startMortalRegistrar } from './mortal-registrar.ts';

/** A creator gives up after this time, as the API does after 15 s. */
const confirmWithinMs = 60;
const settleWithinMs = 10_000;

interface Acknowledged {
  readonly ruleId: string;
  readonly word: string;
  readonly platforms: readonly Platform[];
}

/** What a history leaves for its checks. */
interface Run {
  readonly world: ModelWorld;
  readonly registrars: Map<string, MortalRegistrar>;
  readonly former: MortalRegistrar[];
  acknowledged: Acknowledged[];
  /** Values that somebody took away upstream: they may be missing until the next reconciliation. */
  readonly disturbed: Set<string>;
  readonly foreign: Array<{ source: ModelSource; id: string }>;
}

/** Plays a history and checks what must hold at its end; returns which faults fired. */
export async function runHistory(world: ModelWorld, commands: readonly Command[]): Promise<string[]> {
  await world.reset();
  const run: Run = {
    world,
    registrars: new Map(),
    former: [],
    acknowledged: [],
    disturbed: new Set(),
    foreign: [],
  };
  for (const source of sources) start(run, source, 40);
  for (const command of commands) {
    await play(run, command);
    await assertCovered(run);
    await assertCapacity(run);
  }
  const fired = await world.endFaults();
  await endAll(run);
  await assertSettles(run);
  return fired.flatMap((fault) => (fault.fired > 0 ? [fault.kind] : []));
}

function start(run: Run, source: ModelSource, reconcileEveryMs: number): void {
  const { database, installation, bells, clients } = run.world;
  const client = clients.get(source.id);
  if (!client) throw new Error(`no client of ${source.id}`);
  run.registrars.set(
    source.id,
    startMortalRegistrar({
      database,
      installation,
      bells,
      sourceId: source.id,
      platform: source.platform,
      client,
      reconcileEveryMs,
    }),
  );
}

async function endAll({ registrars, former }: Run): Promise<void> {
  await Promise.all([...registrars.values(), ...former].map((registrar) => registrar.stop()));
  registrars.clear();
}

function sourceAt(index: number): ModelSource {
  return sources[index % sources.length] ?? sources[0];
}

async function play(run: Run, command: Command): Promise<void> {
  const { world } = run;
  switch (command.kind) {
    case 'create':
      return await create(run, command.word, command.platforms);
    case 'create_many':
      await Promise.all(command.words.map((word) => create(run, word, ['x'])));
      return;
    case 'delete': {
      const rule = run.acknowledged[command.which % Math.max(1, run.acknowledged.length)];
      if (!rule) return;
      run.acknowledged = run.acknowledged.filter((one) => one !== rule);
      expect(await world.rules.delete(changeBy('acc_1', null, 'DeleteRule'), rule.ruleId)).not.toBeNull();
      world.bells.ring('slots');
      return;
    }
    case 'crash':
      return await crash(run, sourceAt(command.source), command.midCall);
    case 'lose_lease':
      return await loseLease(run, sourceAt(command.source));
    case 'fault':
      return await world.arm({ ...command.fault, platform: command.platform, count: command.count });
    case 'vanish':
      return await vanish(run, command.platform, command.word);
    case 'delete_by_hand':
      return await deleteByHand(run, sourceAt(command.source), command.which);
    case 'add_by_hand':
      return await addByHand(run, sourceAt(command.source), command.word);
    case 'reconcile':
      await new Promise((resolve) => setTimeout(resolve, 45));
      return;
  }
}

/** As the API does it: write, wait for the outcome, activate; or undo. */
async function create(run: Run, word: string, platforms: readonly Platform[]): Promise<void> {
  const { rules, bells } = run.world;
  const { ruleId, outcome } = await beginRule(
    rules,
    Object.fromEntries(platforms.map((platform) => [platform, word])),
  );
  if (outcome.kind !== 'begun') return;
  using bell = bells.listen('slot_outcomes');
  bells.ring('slots');
  const deadline = performance.now() + confirmWithinMs;
  for (;;) {
    const slots = await rules.slotStates(ruleId);
    const registered = slots.every(({ state }) => state === 'registered');
    if (registered && (await rules.activate(changeBy('acc_1'), created(ruleId)))) {
      run.acknowledged.push({ ruleId, word, platforms });
      return;
    }
    if (performance.now() > deadline || slots.some(({ state }) => state === 'failed')) break;
    await bell.wait(10, new AbortController().signal);
  }
  await rules.abandon(ruleId);
  bells.ring('slots');
}

async function expireLease(run: Run, source: ModelSource): Promise<void> {
  await run.world.database.run(`update leases set expires_at = now() - interval '1 second' where name = $1`, [
    `registrar:${source.id}`,
  ]);
}

async function crash(run: Run, source: ModelSource, midCall: boolean): Promise<void> {
  const registrar = run.registrars.get(source.id);
  if (!registrar) return;
  if (midCall) {
    registrar.dieAfterNextChange();
    await create(run, 'grove', [source.platform]);
  }
  registrar.die();
  run.former.push(registrar);
  await expireLease(run, source);
  start(run, source, 40);
}

/** The old holder goes on until it notices. */
async function loseLease(run: Run, source: ModelSource): Promise<void> {
  const registrar = run.registrars.get(source.id);
  if (!registrar) return;
  run.former.push(registrar);
  await expireLease(run, source);
  start(run, source, 40);
}

async function vanish(run: Run, platform: Platform, word: string): Promise<void> {
  run.disturbed.add(`${platform} ${word}`);
  for (const source of sources.filter((one) => one.platform === platform)) {
    const gone = (await run.world.upstreamRules(source)).filter(({ value }) => value === word);
    for (const { id } of gone) forget(run, source, id);
  }
  await run.world.arm({ kind: 'rules_vanish', platform, contains: word });
}

function forget(run: Run, source: ModelSource, id: string): void {
  const index = run.foreign.findIndex((one) => one.source === source && one.id === id);
  if (index >= 0) run.foreign.splice(index, 1);
}

async function deleteByHand(run: Run, source: ModelSource, which: number): Promise<void> {
  const ours = (await run.world.upstreamRules(source)).filter((rule) => isOurs(run, rule));
  const rule = ours[which % Math.max(1, ours.length)];
  if (!rule) return;
  run.disturbed.add(`${source.platform} ${rule.value}`);
  await run.world.changeByHand(source, { remove: rule.id }).catch(ignoreArmedFault);
}

async function addByHand(run: Run, source: ModelSource, word: string): Promise<void> {
  const before = new Set((await run.world.upstreamRules(source)).map(({ id }) => id));
  await run.world.changeByHand(source, { add: word }).catch(ignoreArmedFault);
  for (const rule of await run.world.upstreamRules(source)) {
    if (!before.has(rule.id) && !isOurs(run, rule)) run.foreign.push({ source, id: rule.id });
  }
}

/** The person at the dashboard meets the same faults as we do. */
function ignoreArmedFault(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'UpstreamUnavailable') throw error;
}

function isOurs({ world }: Run, rule: SandboxRule): boolean {
  return slotOfTag(world.installation, rule.tag ?? null) !== null;
}

/** No rule that was acknowledged is without its upstream rule, unless somebody took that away by hand. */
async function assertCovered(run: Run): Promise<void> {
  const all = await Promise.all(
    sources.map(async (source) => ({ source, rules: await run.world.upstreamRules(source) })),
  );
  for (const { word, platforms } of run.acknowledged) {
    for (const platform of platforms) {
      if (run.disturbed.has(`${platform} ${word}`)) continue;
      const there = all.some(
        ({ source, rules }) => source.platform === platform && rules.some(({ value }) => value === word),
      );
      expect(there, `the acknowledged rule "${word}" is on ${platform}`).toBe(true);
    }
  }
  for (const { source, id } of run.foreign) {
    const there = all.some((one) => one.source === source && one.rules.some((rule) => rule.id === id));
    expect(there, `the foreign rule ${id} is still on ${source.id}`).toBe(true);
  }
}

async function assertCapacity({ world }: Run): Promise<void> {
  const used = await world.database.many<{ source_id: string; count: number }>(
    'select source_id, count(*) from slots group by source_id',
  );
  for (const { source_id: id, count } of used) expect(count, `slots on ${id}`).toBeLessThanOrEqual(capacity);
}

/** With everything quiet, new registrars get one reconciliation each: after it both sides must agree. */
async function assertSettles(run: Run): Promise<void> {
  const { world } = run;
  // What a creation left in the middle is undone by its worker, which is not part of this.
  await world.database.run(
    `update slots set retry_at = now() where state = 'failed' and retry_at is not null`,
  );
  for (const source of sources) await expireLease(run, source);
  for (const source of sources) start(run, source, 3_600_000);
  await eventually(() => assertAgreement(run), { timeoutMs: settleWithinMs, intervalMs: 5 });
  run.disturbed.clear();
  await assertCovered(run);
  await endAll(run);
}

async function assertAgreement(run: Run): Promise<void> {
  const slots = await run.world.database.many<{
    id: string;
    source_id: string;
    state: string;
    upstream_rule_id: string | null;
    foreign_rule: boolean;
    held: boolean;
  }>(`select *, exists (select 1 from slot_holders where slot_id = slots.id) as held from slots`);
  expect(slots.filter((slot) => slot.state !== 'registered' || !slot.held)).toEqual([]);
  for (const source of sources) {
    const rules = await run.world.upstreamRules(source);
    const wanted = slots.filter((slot) => slot.source_id === source.id);
    const ours = rules.filter((rule) => isOurs(run, rule)).map(({ id }) => id);
    const own = wanted.filter((slot) => !slot.foreign_rule).map((slot) => slot.upstream_rule_id ?? 'none');
    expect(ours.toSorted(), `rules of ours on ${source.id}`).toEqual(own.toSorted());
    const all = new Set(rules.map(({ id }) => id));
    expect(wanted.filter((slot) => !all.has(slot.upstream_rule_id ?? ''))).toEqual([]);
  }
}
