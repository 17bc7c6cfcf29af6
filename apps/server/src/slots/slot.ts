import { createHash } from 'node:crypto';
import type { Platform } from '@earshot/contract';

/**
 * A slot is one upstream rule on one source, shared by all rules with the same canonical value.
 *
 *   wanted ──registered upstream──► registered ──last holder leaves──► releasing ──picked──► deleting ──► gone
 *     │                                 ▲                                  │                    │
 *     └──refused──► failed              └────────taken again───────────────┘     taken again ───┴──► wanted
 *
 * A registered one whose rule vanished upstream, or whose source is drained, is wanted again. `transition` has it all.
 *
 * The API moves a slot by taking and leaving it; only the registrar of its source, under its lease, moves it
 * along the upstream. The row is written before the upstream is called and removed after the upstream rule is
 * gone, so whatever a crash leaves upstream has a row that explains it, or is an orphan with our tag.
 */
export type SlotState = 'wanted' | 'registered' | 'releasing' | 'deleting' | 'failed';

/** What happens to a slot. `taken` and `left` come from the API, all others from the registrar under its lease. */
export type SlotEvent =
  /** A rule takes it; `taken_known` when its upstream rule is known. */
  | 'taken'
  | 'taken_known'
  /** Its last holder leaves. */
  | 'left'
  /** The upstream has its rule. */
  | 'registered'
  /** The upstream's verdict: not this value, or nothing more on this source. */
  | 'refused'
  /** No verdict: the upstream cannot be asked. */
  | 'unavailable'
  /** A recorded rule is not upstream any more, and nobody asked for that. */
  | 'vanished'
  /** The registrar begins to remove it. */
  | 'picked'
  /** Not upstream any more, as wanted; `gone_held` when somebody took it meanwhile. */
  | 'gone'
  | 'gone_held'
  /** The time to try a refused slot again has come; only for slots that were registered once. */
  | 'retried'
  /** Its source is drained: another one takes it over. */
  | 'moved';

/** Which events change which state; null is the end of the row. All others leave the slot as it is. */
const transitions: Record<SlotState, Partial<Record<SlotEvent, SlotState | null>>> = {
  wanted: { left: 'releasing', registered: 'registered', refused: 'failed' },
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

/** The written life of a slot; the SQL of the stores follows it (test/slot-life.int.test.ts compares). */
export function transition(state: SlotState, event: SlotEvent): SlotState | null {
  const next = transitions[state][event];
  return next === undefined ? state : next;
}

export interface Slot {
  readonly id: string;
  readonly value: string;
  readonly state: SlotState;
  readonly upstreamRuleId: string | null;
  readonly foreignRule: boolean;
}

/** Why the upstream does not have a rule: `refused` is its verdict on the value, `full` on the source. */
export type ProblemKind = 'refused' | 'full' | 'unavailable';

export interface Problem {
  readonly kind: ProblemKind;
  readonly words: string;
}

export function valueHash(platform: Platform, canonicalValue: string): Buffer {
  return createHash('sha256').update(`${platform}\n${canonicalValue}`).digest();
}

export function slotTag(installation: string, slotId: string): string {
  return `earshot:${installation}:${slotId}`;
}

/** The slot a tag names, or null when the rule is not this installation's. */
export function slotOfTag(installation: string, tag: string | null): string | null {
  const prefix = `earshot:${installation}:`;
  return tag?.startsWith(prefix) ? tag.slice(prefix.length) : null;
}
