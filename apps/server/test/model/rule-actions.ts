import type { Platform } from '@earshot/contract';
import { expect } from 'vitest';
import type { HeldSlot } from '../../src/slots/slot-holding.sql.ts';
import { changeBy, completionOf } from '../changes.ts';
import { beginRule } from '../upstream-world.ts';
import { type Acknowledged, keyOf, type Run } from './run.ts';

const accountId = 'acc_1';

/** As the API does it: write, wait for the outcome, activate; or undo. */
export async function createRule(
  run: Run,
  word: string,
  platforms: readonly Platform[],
  giveUp?: Promise<unknown>,
): Promise<Acknowledged | null> {
  const { rules, bells } = run.world;
  const values = Object.fromEntries(platforms.map((platform) => [platform, word]));
  const { ruleId, outcome } = await beginRule(rules, values);
  if (outcome.kind !== 'begun') return null;
  if (await isRegistered(run, () => rules.slotStates(ruleId), giveUp)) {
    if (await rules.activate(completionOf(changeBy(accountId), ruleId))) {
      const rule = { ruleId, word, platforms };
      run.acknowledged.push(rule);
      run.happened.add('acknowledged');
      return rule;
    }
  }
  await rules.abandon(ruleId);
  bells.ring('slots');
  return null;
}

export async function updateRule(run: Run, rule: Acknowledged, word: string): Promise<void> {
  const { rules, changes, bells } = run.world;
  const { ruleId, platforms } = rule;
  const requestedBy = changeBy(accountId, null, 'UpdateRule');
  const outcome = await changes.beginUpdate(
    {
      accountId,
      ruleId,
      name: undefined,
      intent: undefined,
      expiresAt: undefined,
      values: platforms.map((platform) => ({ platform, value: word, translatedValue: word })),
      platforms,
      premiumRulesMax: 1_000,
      keepOldMs: 0,
    },
    requestedBy,
  );
  if (outcome.kind !== 'begun') return;
  const { change } = outcome;
  if (!(await isRegistered(run, () => rules.slotStates(ruleId, change.version)))) {
    await changes.undo(ruleId);
    bells.ring('slots');
    return;
  }
  expect(await changes.apply(change, requestedBy)).not.toBeNull();
  run.happened.add('updated');
  markUncertain(run, rule);
  run.acknowledged = run.acknowledged.map((one) => (one === rule ? { ...rule, word } : one));
}

export async function pauseRule(run: Run, rule: Acknowledged): Promise<void> {
  run.acknowledged = run.acknowledged.filter((one) => one !== rule);
  run.paused.push(rule);
  markUncertain(run, rule);
  const { kind } = await run.world.changes.pause(rule.ruleId, changeBy(accountId, null, 'PauseRule'));
  expect(kind).toBe('paused');
  run.world.bells.ring('slots');
}

export async function resumeRule(run: Run, rule: Acknowledged): Promise<void> {
  const { rules, changes, bells } = run.world;
  const { ruleId } = rule;
  const outcome = await changes.beginResume({ accountId, ruleId, premiumRulesMax: 1_000 });
  if (outcome.kind !== 'begun') return;
  const { change } = outcome;
  if (!(await isRegistered(run, () => rules.slotStates(ruleId, change.version)))) {
    await changes.undo(ruleId);
    bells.ring('slots');
    return;
  }
  expect(await changes.apply(change, changeBy(accountId, null, 'ResumeRule'))).not.toBeNull();
  run.paused = run.paused.filter((one) => one !== rule);
  run.acknowledged.push(rule);
  run.happened.add('resumed');
}

export async function deleteRule(run: Run, rule: Acknowledged): Promise<void> {
  run.acknowledged = run.acknowledged.filter((one) => one !== rule);
  markUncertain(run, rule);
  const { rules, bells } = run.world;
  expect(await rules.delete(changeBy(accountId, null, 'DeleteRule'), rule.ruleId)).not.toBeNull();
  bells.ring('slots');
}

/** What its worker does with slots that rules hold for a superseded version. */
export async function releaseOldSlots({ world }: Run): Promise<void> {
  if ((await world.oldSlots.release(await world.oldSlots.due())) > 0) world.bells.ring('slots');
}

async function isRegistered(
  run: Run,
  read: () => Promise<HeldSlot[]>,
  giveUp?: Promise<unknown>,
): Promise<boolean> {
  using bell = run.world.bells.listen('slot_outcomes');
  run.world.bells.ring('slots');
  let deadline = performance.now() + run.confirmWithinMs;
  void giveUp?.then(() => {
    deadline = 0;
  });
  for (;;) {
    const slots = await read();
    if (slots.every(({ state }) => state === 'registered')) return true;
    const failed = slots.filter(({ state }) => state === 'failed');
    failed.forEach(assertReason);
    if (failed.some(({ problemKind }) => problemKind === 'full')) run.happened.add('full');
    if (failed.length > 0 || performance.now() > deadline) return false;
    await bell.wait(10, new AbortController().signal);
  }
}

/** Only the sandbox's faults refuse a rule, and only the small tap is full. */
function assertReason({ platform, problem, problemKind }: HeldSlot): void {
  if (problemKind === 'refused') expect(problem).toContain('The sandbox is set to refuse');
  else expect(`${platform} ${problemKind}`).toBe('firehose full');
}

/** Its slots may be deleted and created again: nothing is certain about them any more. */
function markUncertain(run: Run, { word, platforms }: Acknowledged): void {
  const keys = new Set(platforms.map((platform) => keyOf(platform, word)));
  for (const [slotId, { key }] of run.leaving) if (keys.has(key)) run.leaving.delete(slotId);
  run.takenAway = run.takenAway.filter(({ key }) => !keys.has(key));
}
