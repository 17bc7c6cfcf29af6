import type { Rule, RuleExamples } from '@earshot/contract';
import type { Change } from '../accounts/change.ts';
import type { ManagedBy } from './managed-key.ts';
import type { PlacementRefusal } from './placement-refusal.ts';
import type { NewRuleValue } from './rule-store.ts';

/**
 * Changes of rules that exist. A change that needs the upstreams is written first (`begun`: its new slots are held,
 * but their events are not the rule's yet), and applied or undone when they have spoken. One at a time per rule.
 */
export interface RuleChangeStore {
  beginUpdate(update: RuleUpdate, change: Change): Promise<ChangeOutcome>;
  beginResume(resume: RuleResume): Promise<ChangeOutcome>;
  /** The rule as the new version, from here on. Null when the change was undone, or the rule deleted, meanwhile. */
  apply(begun: BegunChange, change: Change): Promise<Rule | null>;
  /** The rule is as it was before; returns the slots that were held for the change. */
  undo(ruleId: string): Promise<string[]>;
  /** Leaves all slots; a change that is under way is in its way. */
  pause(ruleId: string, change: Change): Promise<PauseOutcome>;
}

export interface RuleUpdate {
  readonly accountId: string;
  readonly ruleId: string;
  /** What is undefined stays as it is. */
  readonly name: string | undefined;
  readonly intent: string | undefined;
  readonly expiresAt: Date | null | undefined;
  readonly examples?: RuleExamples | null | undefined;
  readonly managedBy?: ManagedBy | undefined;
  readonly values: readonly NewRuleValue[] | undefined;
  /** The version that the caller has seen, if it matters. */
  readonly ifVersion?: number | undefined;
  readonly premiumRulesMax: number;
  readonly keepOldMs: number;
}

export interface RuleResume {
  readonly accountId: string;
  readonly ruleId: string;
  readonly premiumRulesMax: number;
}

/** What applying needs to know; it lives with the process that waits, and so does the change. */
export interface BegunChange {
  readonly ruleId: string;
  readonly version: number;
  readonly update: RuleUpdate | null;
}

export type ChangeOutcome =
  | { readonly kind: 'begun'; readonly change: BegunChange }
  /** Nothing upstream had to change, so it is done; or nothing had to change at all. */
  | { readonly kind: 'applied'; readonly rule: Rule }
  | { readonly kind: 'not_found' | 'under_way' | 'not_paused' | 'expired' }
  | PlacementRefusal;

export type PauseOutcome =
  | { readonly kind: 'paused'; readonly rule: Rule }
  | { readonly kind: 'not_found' | 'under_way' | 'not_active' };
