import { isDeepStrictEqual } from 'node:util';
import { formatBudget } from '@earshot/contract/budgets';
import { differingOptions, allPlatforms as platforms } from '@earshot/contract/platforms';
import type { Requests, Rule } from '@earshot/sdk';
import { onPlatforms } from '../platforms.ts';
import type { WantedRule } from './rules-file.ts';

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

export interface PlannedUpdate {
  readonly wanted: WantedRule;
  readonly rule: Rule;
  readonly changes: readonly FieldChange[];
}

/**
 * The changes that make the account's rules of the set equal to the file. It ignores rules of other sets or of none. The server stores set
 * and key with each rule: a state file beside the rules file could be lost, and two machines would have two of them.
 */
export interface Plan {
  readonly set: string;
  readonly creates: readonly WantedRule[];
  readonly updates: readonly PlannedUpdate[];
  readonly deletes: readonly Rule[];
  readonly unchanged: number;
  /** Rules of the account that this file does not own. */
  readonly others: number;
}

/** Compares a file with the rules of the account. */
export function planRules(
  { set, rules: wantedRules }: { set: string; rules: readonly WantedRule[] },
  accountRules: readonly Rule[],
): Plan {
  const owned = new Map<string, Rule>();
  for (const rule of accountRules) if (rule.managed_by?.set === set) owned.set(rule.managed_by.key, rule);
  const updates: PlannedUpdate[] = [];
  const creates: WantedRule[] = [];
  for (const wanted of wantedRules) {
    const rule = owned.get(wanted.key);
    if (rule) updates.push({ wanted, rule, changes: changesOf(wanted, rule) });
    else creates.push(wanted);
  }
  const keys = new Set(wantedRules.map(({ key }) => key));
  return {
    set,
    creates,
    updates: updates.filter(({ changes }) => changes.length > 0),
    deletes: [...owned].filter(([key]) => !keys.has(key)).map(([, rule]) => rule),
    unchanged: updates.filter(({ changes }) => changes.length === 0).length,
    others: accountRules.length - owned.size,
  };
}

export function countOf({ creates, updates, deletes }: Plan): number {
  return creates.length + updates.length + deletes.length;
}

function changesOf(wanted: WantedRule, rule: Rule): FieldChange[] {
  const fields: FieldChange[] = [
    { field: 'name', from: rule.name, to: wanted.name },
    { field: 'intent', from: rule.intent, to: wanted.intent },
    ...platforms.map((platform) => ({
      field: `overrides.${platform}`,
      from: rule.platforms[platform]?.value ?? null,
      to: wanted.overrides[platform] ?? null,
    })),
    ...platforms.map((platform) => ({
      field: `options.${platform}`,
      from: rule.platforms[platform]?.options ?? {},
      to: differingOptions(platform, wanted.options) ?? {},
    })),
    { field: 'expires_at', from: instant(rule.expires_at), to: instant(wanted.expiresAt) },
    {
      field: 'budget',
      from: rule.budget && formatBudget(rule.budget),
      to: wanted.budget && formatBudget(wanted.budget),
    },
    { field: 'examples', from: rule.examples, to: wanted.examples },
    { field: 'relevance', from: rule.relevance, to: wanted.relevance },
    { field: 'alerts', from: rule.alerts, to: wanted.alerts },
  ];
  return fields.filter(({ from, to }) => !isDeepStrictEqual(from, to));
}

/** Normalises a time, because the same moment can be written in several ways. */
function instant(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

export function createRequest(set: string, wanted: WantedRule): Requests['CreateRule'] {
  const { key, name, intent, overrides, options, acceptSuspicious, expiresAt, budget, examples } = wanted;
  const { relevance, alerts } = wanted;
  return {
    name,
    intent,
    ...onPlatforms(overrides),
    ...(Object.keys(options).length > 0 && { options }),
    ...(acceptSuspicious && { accept_suspicious: true }),
    ...(expiresAt !== null && { expires_at: expiresAt }),
    ...(budget !== null && { budget }),
    ...(examples !== null && { examples }),
    ...(relevance !== null && { relevance }),
    ...(alerts !== null && { alerts }),
    managed_by: { set, key },
  };
}

/** Sends only fields that differ, and only if the rule has not changed since the comparison. */
export function updateRequest({ wanted, rule, changes }: PlannedUpdate): Requests['UpdateRule'] {
  const changed = new Set(changes.map(({ field }) => field.split('.')[0]));
  return {
    rule_id: rule.id,
    if_version: rule.version,
    ...(changed.has('name') && { name: wanted.name }),
    ...(changed.has('intent') && { intent: wanted.intent }),
    ...(changed.has('overrides') && onPlatforms(wanted.overrides)),
    ...(changed.has('overrides') && wanted.acceptSuspicious && { accept_suspicious: true }),
    ...(changed.has('options') && { options: newOptions(wanted, changes) }),
    ...(changed.has('expires_at') && { expires_at: wanted.expiresAt }),
    ...(changed.has('budget') && { budget: wanted.budget }),
    ...(changed.has('examples') && { examples: wanted.examples }),
    ...(changed.has('relevance') && { relevance: wanted.relevance }),
    ...(changed.has('alerts') && { alerts: wanted.alerts }),
  };
}

/** Options of the platforms whose options change. Others are omitted, because the rule may leave these platforms. */
function newOptions(wanted: WantedRule, changes: readonly FieldChange[]) {
  const named = platforms.filter(
    (platform) =>
      wanted.overrides[platform] !== undefined &&
      changes.some(({ field }) => field === `options.${platform}`),
  );
  return Object.fromEntries(
    named.map((platform) => [platform, differingOptions(platform, wanted.options) ?? {}]),
  );
}

export function deleteRequest(rule: Rule): Requests['DeleteRule'] {
  return { rule_id: rule.id, if_version: rule.version };
}
