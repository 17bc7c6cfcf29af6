import type { AnswerOf, Platform, Rule, RuleExamples } from '@earshot/contract';
import type { Change } from '../accounts/change.ts';
import type { ProblemKind, SlotState } from '../slots/slot.ts';
import type { ManagedBy } from './managed-key.ts';

/** Rules with their slots. Every call names the account; a foreign rule is like one that does not exist. */
export interface RuleStore {
  /**
   * Writes the rule as `creating` and takes its slots, before any upstream is called. If all its slots are registered
   * and listened to, and the caller says what then to answer, it is `created` at once, in one transaction.
   */
  begin(rule: NewRule, whenRegistered?: WhenRegistered): Promise<BeginOutcome>;
  /** The slots that the rule holds for a version; for the first one unless told. */
  slotStates(ruleId: string, version?: number): Promise<HeldSlot[]>;
  /** False when the creation was given up meanwhile by somebody else. The answer is recorded with it. */
  activate(change: Change, answer: AnswerOf<'CreateRule'>): Promise<boolean>;
  /** Removes a rule that never became active, with its holds; returns the ids of the slots it held. */
  abandon(ruleId: string): Promise<string[]>;
  /** How many of these slots are still on their way out. */
  stillReleasing(slotIds: readonly string[]): Promise<number>;
  /** Null when there is no such rule. Throws when it has another version than the one that is asked for. */
  delete(change: Change, ruleId: string, ifVersion?: number): Promise<AnswerOf<'DeleteRule'> | null>;
  exists(accountId: string, ruleId: string): Promise<boolean>;
  get(accountId: string, ruleId: string): Promise<Rule | null>;
  /** Newest first, below the given id. */
  page(accountId: string, page: { before: string | null; limit: number }): Promise<Rule[]>;
}

export interface NewRule {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly intent: string;
  readonly expiresAt: Date | null;
  readonly examples?: RuleExamples | null;
  readonly managedBy?: ManagedBy;
  readonly premiumRulesMax: number;
  readonly values: readonly NewRuleValue[];
}

export interface NewRuleValue {
  readonly platform: Platform;
  readonly value: string;
  readonly translatedValue: string;
}

export interface WhenRegistered {
  readonly change: Change;
  /**
   * The answer is recorded with the change. `equivalentRuleId` is the oldest other rule of the account with the same
   * values on the same platforms.
   */
  answer(slots: readonly HeldSlot[], equivalentRuleId: string | null): AnswerOf<'CreateRule'>;
}

export type BeginOutcome =
  | { readonly kind: 'begun'; readonly equivalentRuleId: string | null }
  | { readonly kind: 'created'; readonly answer: AnswerOf<'CreateRule'> }
  | { readonly kind: 'premium_limit'; readonly used: number }
  | { readonly kind: 'no_source'; readonly platform: Platform }
  | { readonly kind: 'sources_full'; readonly platform: Platform; readonly capacity: number };

export interface HeldSlot {
  readonly platform: Platform;
  readonly state: SlotState;
  readonly upstreamRuleId: string | null;
  readonly translatedValue: string;
  readonly live: boolean;
  readonly problem: string | null;
  readonly problemKind: ProblemKind | null;
}
