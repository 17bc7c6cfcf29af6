import type { NewRuleValue } from './rule-store.ts';

/** Where the statement finds what it compares with. */
interface Compared {
  readonly ruleId: string;
  readonly accountId: string;
  /** Of one of its values. */
  readonly platform: string;
  readonly valueHash: string;
  /** As `comparable` gives them. */
  readonly values: string;
}

/**
 * SQL for the oldest other rule of the account with the same values on the same platforms. One that is not paused
 * holds the slots of its values, so looking at the holders of one of them finds it.
 */
export function equivalentRule(compared: Compared): string {
  const isEquivalent = `rules.state not in ('creating', 'deleted') and rules.id <> ${compared.ruleId} and (
    select array_agg(v.platform || ' ' || v.translated_value order by v.platform collate "C") from rule_versions v
    where v.rule_id = rules.id and v.version = rules.version) = ${compared.values}`;
  return `least(
    (select holders.rule_id from slots
     join slot_holders holders on holders.account_id = ${compared.accountId}
       and holders.platform = slots.platform and holders.slot_id = slots.id
     join rules on rules.id = holders.rule_id
     where slots.platform = ${compared.platform} and slots.value_hash = ${compared.valueHash} and ${isEquivalent}
     order by holders.rule_id limit 1),
    (select rules.id from rules
     where rules.account_id = ${compared.accountId} and rules.state = 'paused' and ${isEquivalent}
     order by rules.id limit 1))`;
}

export function comparable(values: readonly NewRuleValue[]): string[] {
  return values.map(({ platform, translatedValue }) => `${platform} ${translatedValue}`).toSorted();
}
