import { expect } from 'vitest';
import { slotOfTag } from '../../src/slots/slot.ts';
import { capacity, type ModelSource, type SandboxRule, sources } from './model-world.ts';
import { isOurs, keyOf, type Run } from './run.ts';

type Upstream = ReadonlyArray<{ readonly source: ModelSource; readonly rules: readonly SandboxRule[] }>;

/** Invariants that must hold at every moment. */
export async function assertAlways(run: Run): Promise<void> {
  expect([...run.misdeeds]).toEqual([]);
  const upstream = await Promise.all(
    sources.map(async (source) => ({ source, rules: await run.world.upstreamRules(source) })),
  );
  assertCovered(run, upstream);
  await assertStillServed(run, upstream);
  for (const { source, id } of run.foreign) {
    const there = upstream.some((one) => one.source === source && one.rules.some((rule) => rule.id === id));
    expect(there, `the foreign rule ${id} is still on ${source.id}`).toBe(true);
  }
  const used = await run.world.database.many<{ source_id: string; count: number }>(
    'select source_id, count(*) from slots group by source_id',
  );
  for (const { source_id: id, count } of used) expect(count, `slots on ${id}`).toBeLessThanOrEqual(capacity);
}

/** Every acknowledged rule has its upstream rule, unless that was deleted by hand. */
function assertCovered(run: Run, upstream: Upstream): void {
  for (const { word, platforms } of run.acknowledged) {
    for (const platform of platforms) {
      if (run.disturbed.has(keyOf(platform, word))) continue;
      const there = upstream.some(
        ({ source, rules }) => source.platform === platform && rules.some(({ value }) => value === word),
      );
      expect(there, `the acknowledged rule "${word}" is on ${platform}`).toBe(true);
    }
  }
}

/** A drained source keeps a rule until the new one has been effective for a while, which is longer than any history. */
async function assertStillServed(run: Run, upstream: Upstream): Promise<void> {
  if (run.leaving.size === 0) return;
  const moved = await run.world.database.many<{ id: string; moved_from: string }>(
    `select id, moved_from from slots where id = any($1) and moved_from is not null and source_id <> moved_from`,
    [[...run.leaving.keys()]],
  );
  for (const { id, moved_from: from } of moved) {
    const left = run.leaving.get(id);
    // Moved on since, or its rule was deleted by hand.
    if (!left || left.source.id !== from || run.disturbed.has(left.key)) continue;
    const there = upstream.some(
      ({ source, rules }) =>
        source === left.source &&
        rules.some((rule) => slotOfTag(run.world.installation, rule.tag ?? null) === id),
    );
    expect(there, `${from} still serves ${left.key}, which has just moved`).toBe(true);
  }
}

/**
 * Registered upstream rules that no source serves although one has room: reconciliations fix this. Without room, a rule
 * that was deleted by hand is not restored.
 */
export async function findUnserved(run: Run): Promise<{ withRoom: string[]; withoutRoom: string[] }> {
  const slots = await run.world.database.many<{
    id: string;
    key: string;
    movedFrom: string;
    hasRoom: boolean;
  }>(
    `select id, platform || ' ' || value as key, moved_from as "movedFrom", exists (
       select 1 from sources where platform = slots.platform
         and capacity > (select count(*) from slots as placed where placed.source_id = sources.id)) as "hasRoom"
     from slots where state = 'failed' and problem_kind = 'full' and registered_at is not null`,
  );
  const withRoom: string[] = [];
  const withoutRoom: string[] = [];
  for (const { id, key, movedFrom, hasRoom } of slots) {
    const former = sources.find((source) => source.id === movedFrom);
    const rules = former ? await run.world.upstreamRules(former) : [];
    const isServed = rules.some((rule) => slotOfTag(run.world.installation, rule.tag ?? null) === id);
    if (!isServed) (hasRoom ? withRoom : withoutRoom).push(key);
  }
  return { withRoom, withoutRoom };
}

interface SlotRow {
  id: string;
  value: string;
  source_id: string;
  moved_from: string | null;
  state: string;
  problem_kind: string | null;
  upstream_rule_id: string | null;
  foreign_rule: boolean;
  held: boolean;
}

/** Invariants at the end: the upstream has what the slots say, and no other rule of ours. */
export async function assertAgreement(run: Run): Promise<void> {
  const slots = await run.world.database.many<SlotRow>(
    `select *, exists (select 1 from slot_holders where slot_id = slots.id) as held from slots`,
  );
  // A slot without room at its destination stays with the source that it should leave.
  const stranded = slots.filter((slot) => slot.state === 'failed' && slot.problem_kind === 'full');
  const settled = slots.filter((slot) => !stranded.includes(slot));
  expect([
    ...settled.filter((slot) => slot.state !== 'registered'),
    ...slots.filter((slot) => !slot.held),
  ]).toEqual([]);
  for (const source of sources) {
    const rules = await run.world.upstreamRules(source);
    const own = settled.filter((slot) => slot.source_id === source.id);
    const kept = stranded.filter((slot) => slot.moved_from === source.id).map((slot) => slot.id);
    const keptRules = rules.filter((rule) =>
      kept.includes(slotOfTag(run.world.installation, rule.tag ?? null) ?? ''),
    );
    const expected = [
      ...own.filter((slot) => !slot.foreign_rule).map((slot) => slot.upstream_rule_id ?? 'none'),
      ...keptRules.map(({ id }) => id),
    ];
    const ours = rules.filter((rule) => isOurs(run, rule)).map(({ id }) => id);
    expect(ours.toSorted(), `rules of ours on ${source.id}`).toEqual(expected.toSorted());
    const all = new Set(rules.map(({ id }) => id));
    expect(own.filter((slot) => !all.has(slot.upstream_rule_id ?? ''))).toEqual([]);
  }
}

/** A rule that was deleted by hand left a gap in the ledger of its slot, and the gap ended. */
export async function assertGaps(run: Run): Promise<void> {
  const rows = await run.world.database.many<{ id: string; upstream_rule_id: string; ended: boolean | null }>(
    `select id, upstream_rule_id,
       (select bool_and(to_at is not null) from slot_gaps where slot_id = slots.id) as ended
     from slots where id = any($1) and state = 'registered' and moved_from is null`,
    [run.takenAway.map(({ slotId }) => slotId)],
  );
  for (const { slotId, upstreamRuleId } of run.takenAway) {
    const slot = rows.find(({ id }) => id === slotId);
    if (!slot || slot.upstream_rule_id === upstreamRuleId) continue;
    expect(slot.ended, `the absence of ${upstreamRuleId} is on the ledger, and over`).toBe(true);
  }
}
