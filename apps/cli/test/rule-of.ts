import type { Rule } from '@earshot/sdk';

/** A rule of the set `launches`, as the server returns it. */
export function ruleOf(key: string, more: Partial<Rule> = {}): Rule {
  return {
    id: `rule_${key}`,
    name: key,
    intent: 'to know',
    created_at: '2026-11-14T22:46:00.000Z',
    updated_at: '2026-11-14T22:46:00.000Z',
    version: 3,
    state: 'active',
    expires_at: null,
    budget: null,
    effective_budget: null,
    pause: null,
    examples: null,
    relevance: null,
    alerts: null,
    managed_by: { set: 'launches', key },
    platforms: { x: onPlatform('rocket') },
    ...more,
  };
}

export function onPlatform(value: string): NonNullable<Rule['platforms']['x']> {
  return {
    value,
    platform_rule_id: '1',
    translated_value: value,
    status: 'active',
    listening: { state: 'live', reason: null, since: null },
    rule_type: 'premium',
    last_match_at: null,
    match_count: 0,
  };
}
