import type { Platform } from '@earshot/contract';
import { slotOfTag } from '../../src/slots/slot.ts';
import { type ModelSource, type ModelWorld, type SandboxRule, sources } from './model-world.ts';
import { type MortalRegistrar, startMortalRegistrar } from './mortal-registrar.ts';
import type { Misdeed } from './watched-client.ts';

/** A rule whose creation was acknowledged to its caller. */
export interface Acknowledged {
  readonly ruleId: string;
  readonly word: string;
  readonly platforms: readonly Platform[];
}

interface RunOptions {
  readonly reconcileEveryMs: number;
  /** A caller gives up after this time, as the API does after 15 s. If no node answers, it gives up at once. */
  readonly confirmWithinMs: number;
}

/** A running history, with all that its checks need. */
export interface Run extends RunOptions {
  readonly world: ModelWorld;
  readonly registrars: Map<string, MortalRegistrar>;
  readonly former: MortalRegistrar[];
  acknowledged: Acknowledged[];
  paused: Acknowledged[];
  /** Queries whose rules were deleted upstream by hand: they may be missing until the next reconciliation. */
  readonly disturbed: Set<string>;
  readonly foreign: Array<{ source: ModelSource; id: string }>;
  /** Upstream rules of acknowledged rules that were deleted by hand. */
  takenAway: Array<{ slotId: string; upstreamRuleId: string; key: string }>;
  /** Slots of acknowledged rules on a source when its draining began: it serves them as long as they are held. */
  readonly leaving: Map<string, { source: ModelSource; key: string }>;
  readonly drained: Set<string>;
  readonly misdeeds: Set<Misdeed>;
  /** What a history contained: all of them together must contain everything. */
  readonly happened: Set<string>;
}

export function newRun(world: ModelWorld, options: RunOptions): Run {
  return {
    world,
    ...options,
    registrars: new Map(),
    former: [],
    acknowledged: [],
    paused: [],
    disturbed: new Set(),
    foreign: [],
    takenAway: [],
    leaving: new Map(),
    drained: new Set(),
    misdeeds: new Set(),
    happened: new Set(),
  };
}

export const keyOf = (platform: Platform, word: string) => `${platform} ${word}`;

export function isAcknowledged({ acknowledged }: Run, key: string): boolean {
  return acknowledged.some(({ word, platforms }) => platforms.some((one) => keyOf(one, word) === key));
}

export function sourceAt(index: number): ModelSource {
  return sources[index % sources.length] ?? sources[0];
}

export function isOurs({ world }: Run, rule: SandboxRule): boolean {
  return slotOfTag(world.installation, rule.tag ?? null) !== null;
}

export function startRegistrar(run: Run, source: ModelSource, reconcileEveryMs = run.reconcileEveryMs): void {
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
      report: (misdeed) => run.misdeeds.add(misdeed),
    }),
  );
}

/** The old holder, if it lives, continues until it notices. */
export async function replaceRegistrar(run: Run, source: ModelSource): Promise<void> {
  const registrar = run.registrars.get(source.id);
  if (registrar) run.former.push(registrar);
  await expireLease(run, source);
  startRegistrar(run, source);
}

export async function expireLease({ world }: Run, source: ModelSource): Promise<void> {
  await world.database.run(`update leases set expires_at = now() - interval '1 second' where name = $1`, [
    `registrar:${source.id}`,
  ]);
}

export async function endAll({ registrars, former }: Run): Promise<void> {
  await Promise.all([...registrars.values(), ...former].map((registrar) => registrar.stop()));
  registrars.clear();
  former.length = 0;
}
