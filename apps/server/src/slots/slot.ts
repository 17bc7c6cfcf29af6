import { createHash } from 'node:crypto';
import type { Platform } from '@earshot/contract';
import type { Blocking, RuleOptions } from '../upstream/upstream-rules.ts';

/**
 * A slot is one upstream rule on one source, shared by all rules with the same canonical query and options.
 *
 *   wanted ──registered upstream──► registered ──last holder leaves──► releasing ──picked──► deleting ──► gone
 *     │                                 ▲                                  │                    │
 *     └──refused──► failed              └────────taken again───────────────┘     taken again ───┴──► wanted
 *
 * The API changes a slot's state by taking and leaving it. Only the registrar of its source, under its lease, changes it according to the
 * upstream's answers. The row is written before the upstream is called and deleted after the upstream rule is removed. So everything that
 * a crash leaves upstream has a row that explains it, or is an orphan with our tag.
 *
 * Taking a `releasing` slot costs nothing, because its upstream rule still exists. In `deleting`, the deletion has begun. So the upstream
 * rule counts as gone, and the slot is registered again.
 */
export type SlotState = 'wanted' | 'registered' | 'releasing' | 'deleting' | 'failed';

/** Events of a slot. `taken` and `left` come from the API, all others from the registrar under its lease. */
export type SlotEvent =
  /** A rule takes it; `taken_known` when its upstream rule is known. */
  | 'taken'
  | 'taken_known'
  /** Its last holder leaves. */
  | 'left'
  /** The upstream has its rule. */
  | 'registered'
  /** The upstream refused it: this query, or any more rules on this source. */
  | 'refused'
  /** The upstream could not be reached, so nothing is known. */
  | 'unavailable'
  /** A recorded rule is no longer upstream although Earshot did not remove it. */
  | 'vanished'
  /** The registrar begins to remove it. */
  | 'picked'
  /** Its upstream rule is removed; `gone_held` if a rule has taken the slot in the meantime. */
  | 'gone'
  | 'gone_held'
  /** The retry of a refused slot is due; only for slots that were registered once. */
  | 'retried'
  /** Another source takes it over, because its own is drained or full. */
  | 'moved';

/**
 * The life of a slot: the state after each event in each state; null deletes the row. An event that is missing in a state leaves the slot
 * as it is. `stateAfter` and `statesWith` make statements from this table.
 */
export const slotLife: Readonly<Record<SlotState, Readonly<Partial<Record<SlotEvent, SlotState | null>>>>> = {
  wanted: { left: 'releasing', registered: 'registered', refused: 'failed', moved: 'wanted' },
  registered: { left: 'releasing', vanished: 'wanted', moved: 'wanted' },
  releasing: {
    taken: 'wanted',
    taken_known: 'registered',
    picked: 'deleting',
    gone: null,
    gone_held: 'wanted',
  },
  deleting: { gone: null, gone_held: 'wanted' },
  failed: { taken: 'wanted', taken_known: 'wanted', left: null, retried: 'wanted', moved: 'wanted' },
};

function cellsOf(event: SlotEvent): Array<readonly [state: string, next: SlotState | null]> {
  return Object.entries(slotLife).flatMap(([state, events]) => {
    const next = events[event];
    return next === undefined ? [] : [[state, next] as const];
  });
}

/** SQL: the state of a row of `slots` after the event. Does not apply to rows that the event deletes. */
export function stateAfter(event: SlotEvent): string {
  const cases = cellsOf(event).flatMap(([state, next]) =>
    next === null ? [] : [`when '${state}' then '${next}'`],
  );
  return cases.length === 0 ? 'slots.state' : `case slots.state ${cases.join(' ')} else slots.state end`;
}

/** SQL: the states, in parentheses, in which the event `changes` a slot, or in which it `deletes` it. */
export function statesWith(event: SlotEvent, effect: 'changes' | 'deletes'): string {
  const states = cellsOf(event).flatMap(([state, next]) =>
    (next === null) === (effect === 'deletes') ? [`'${state}'`] : [],
  );
  return `(${states.join(', ')})`;
}

export interface Slot {
  readonly id: string;
  readonly value: string;
  readonly options: RuleOptions;
  readonly state: SlotState;
  readonly upstreamRuleId: string | null;
  /** A foreign upstream rule has the same query: it is used, and never removed. */
  readonly foreignRule: boolean;
}

export interface SlotRow {
  id: string;
  value: string;
  options: RuleOptions;
  state: SlotState;
  upstream_rule_id: string | null;
  foreign_rule: boolean;
}

export const slotColumns = 'id, value, options, state, upstream_rule_id, foreign_rule';

export function toSlot(row: SlotRow): Slot {
  return {
    id: row.id,
    value: row.value,
    options: row.options,
    state: row.state,
    upstreamRuleId: row.upstream_rule_id,
    foreignRule: row.foreign_rule,
  };
}

/** Why the upstream does not have a rule: `refused` is about the query, `full` about the source. */
export type ProblemKind = 'refused' | 'full' | 'unavailable' | Blocking;

export interface Problem {
  readonly kind: ProblemKind;
  /** The upstream's message, if there is one. */
  readonly words: string;
}

/** Identifies a slot: rules with the same canonical query and options share one. */
export function valueHash(platform: Platform, canonicalValue: string, options: RuleOptions = {}): Buffer {
  return createHash('sha256')
    .update(`${platform}\n${canonicalValue}\n${JSON.stringify(options)}`)
    .digest();
}

export function slotTag(installation: string, slotId: string): string {
  return `earshot:${installation}:${slotId}`;
}

/** The slot that a tag names, or null if the rule does not belong to this installation. */
export function slotOfTag(installation: string, tag: string | null): string | null {
  const prefix = `earshot:${installation}:`;
  return tag?.startsWith(prefix) ? tag.slice(prefix.length) : null;
}
