import { createHash } from 'node:crypto';
import type { Platform } from '@earshot/contract';

/**
 * A slot is one upstream rule on one source, shared by all rules with the same canonical value.
 *
 *   wanted ──registered upstream──► registered ──last holder leaves──► releasing ──picked──► deleting ──► gone
 *     │                                 ▲                                  │                    │
 *     └──refused──► failed              └────────taken again───────────────┘     taken again ───┴──► wanted
 *
 * The API moves a slot by taking and leaving it; only the registrar of its source, under its lease, moves it
 * along the upstream. The row is written before the upstream is called and removed after the upstream rule is
 * gone, so whatever a crash leaves upstream has a row that explains it, or is an orphan with our tag.
 */
export type SlotState = 'wanted' | 'registered' | 'releasing' | 'deleting' | 'failed';

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
