import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import { assertAgreement, assertAlways, assertGaps, findUnserved } from './checks.ts';
import type { Command, History } from './commands.ts';
import { type ModelWorld, sources } from './model-world.ts';
import {
  createRule,
  deleteRule,
  pauseRule,
  releaseOldSlots,
  resumeRule,
  updateRule,
} from './rule-actions.ts';
import { endAll, expireLease, newRun, type Run, replaceRegistrar, sourceAt, startRegistrar } from './run.ts';
import { addByHand, crash, deleteByHand, drain, freeze, undrain, vanish } from './trouble.ts';

const regularlyMs = 40;
const neverMs = 3_600_000;
const settle = { timeoutMs: 60_000, intervalMs: 5 };

/** Plays a history and checks its invariants at each step and at the end; returns which events happened. */
export async function runHistory(
  world: ModelWorld,
  { regular, commands }: History,
  confirmWithinMs = 1_000,
): Promise<string[]> {
  await world.reset();
  const run = newRun(world, { reconcileEveryMs: regular ? regularlyMs : neverMs, confirmWithinMs });
  try {
    for (const source of sources) startRegistrar(run, source);
    for (const command of commands) {
      await play(run, command);
      await assertAlways(run);
      await releaseOldSlots(run);
    }
    const fired = await world.endFaults();
    await endAll(run);
    await assertSettles(run);
    return [...run.happened, ...fired.flatMap((fault) => (fault.fired > 0 ? [fault.kind] : []))];
  } finally {
    await endAll(run).catch(() => undefined);
  }
}

async function play(run: Run, command: Command): Promise<void> {
  switch (command.kind) {
    case 'create':
      return void (await createRule(run, command.word, command.platforms));
    case 'create_many':
      await Promise.all(command.words.map((word) => createRule(run, word, ['x'])));
      return;
    case 'update':
    case 'pause':
    case 'delete':
    case 'replace':
    case 'resume':
      return await playOnRule(run, command);
    case 'crash':
      return await crash(run, sourceAt(command.source), command.midCall);
    case 'lose_lease':
      return await replaceRegistrar(run, sourceAt(command.source));
    case 'freeze':
      return await freeze(run, command);
    case 'drain':
      return await drain(run, sourceAt(command.source));
    case 'undrain':
      return await undrain(run);
    case 'fault':
      return await run.world.arm({ ...command.fault, platform: command.platform, count: command.count });
    case 'vanish':
      return await vanish(run, command.platform, command.word);
    case 'delete_by_hand':
      return await deleteByHand(run, sourceAt(command.source), command.which);
    case 'add_by_hand':
      return await addByHand(run, sourceAt(command.source), command.word);
    case 'reconcile':
      return await reconcile(run);
  }
}

type OnRule = Extract<Command, { kind: 'update' | 'pause' | 'resume' | 'delete' | 'replace' }>;

async function playOnRule(run: Run, command: OnRule): Promise<void> {
  const among = command.kind === 'resume' ? run.paused : run.acknowledged;
  const rule = among[command.which % Math.max(1, among.length)];
  if (!rule) return;
  switch (command.kind) {
    case 'update':
      return await updateRule(run, rule, command.word);
    case 'pause':
      return await pauseRule(run, rule);
    case 'resume':
      return await resumeRule(run, rule);
    case 'delete':
      return await deleteRule(run, rule);
    case 'replace':
      await Promise.all([deleteRule(run, rule), createRule(run, rule.word, rule.platforms)]);
      return;
  }
}

async function reconcile(run: Run): Promise<void> {
  if (run.reconcileEveryMs === regularlyMs) {
    await wait(regularlyMs + 5);
    return;
  }
  await endAll(run);
  for (const source of sources) startRegistrar(run, source);
}

/** Without further events, new registrars run one reconciliation each: after it both sides must agree. */
async function assertSettles(run: Run): Promise<void> {
  await releaseOldSlots(run);
  if (run.takenAway.length > 0) run.happened.add('taken_away');
  await finishMoves(run);
  await retryFailed(run);
  for (const source of sources) await expireLease(run, source);
  for (const source of sources) startRegistrar(run, source, neverMs);
  await eventually(() => assertAgreement(run), settle);
  const { withRoom, withoutRoom } = await findUnserved(run);
  expect(withRoom).toEqual([]);
  for (const key of run.disturbed) if (!withoutRoom.includes(key)) run.disturbed.delete(key);
  await assertAlways(run);
  await assertGaps(run);
  await endAll(run);
}

/** Moves the registration of moved slots into the past: the former sources need not serve them any more. */
async function finishMoves(run: Run): Promise<void> {
  run.leaving.clear();
  const { database } = run.world;
  const age = async () => {
    const moved = await database.run(
      `update slots set confirmed_at = confirmed_at - interval '1 minute'
       where moved_from is not null and confirmed_at > now() - interval '30 seconds'`,
    );
    if (moved > 0) run.happened.add('moved');
  };
  await age();
  const underWay = await database.many(
    `select 1 from slots where source_id <> moved_from and state <> 'registered'`,
  );
  if (run.drained.size === 0 && underWay.length === 0) return;
  // A rule that the new source refused is still served by the former one: it is retried before it can leave.
  await retryFailed(run);
  for (const source of sources) startRegistrar(run, source, regularlyMs);
  await eventually(async () => {
    await age();
    const unsettled = await database.many(
      `select slots.id, slots.state from slots join sources on sources.id = slots.source_id
       where slots.state not in ('registered', 'failed') or slots.state = 'failed' and slots.retry_at <= now()
         or not sources.enabled and exists (
         select 1 from sources as other
         where other.platform = sources.platform and other.enabled
           and other.capacity > (select count(*) from slots where source_id = other.id))`,
    );
    expect(unsettled).toEqual([]);
    // The former source takes such a rule back at its next reconciliation, or the rule is retried after a minute.
    const { withRoom } = await findUnserved(run);
    if (withRoom.length > 0) await retryFailed(run);
    expect(withRoom).toEqual([]);
  }, settle);
  await endAll(run);
  await age();
}

async function retryFailed({ world }: Run): Promise<void> {
  await world.database.run(
    `update slots set retry_at = now() where state = 'failed' and retry_at is not null`,
  );
}
