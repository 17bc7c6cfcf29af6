import { onEachPlatform } from '@earshot/contract';
import type { Rule } from '@earshot/sdk';
import { z } from 'zod';
import { unhidden } from './content/visible.ts';
import { perPlatform, platform } from './per-platform.ts';

/** What arguments and answers about rules are made of. Lengths and contradictions are for the API to refuse. */
export const ruleId = z.string().meta({ description: 'rule_… from create_rule or list_rules' });

export const platforms = z.array(platform);

export const overrides = z
  .strictObject(
    onEachPlatform((_, { title, sampleValue }) =>
      z
        .string()
        .optional()
        .meta({ description: `In ${title} syntax, such as ${sampleValue}` }),
    ),
  )
  .meta({ description: 'The rule, once for each listed platform, in its own syntax (platform_syntax)' });

/** Short, as is every schema that all agents read; the API refuses what it does not know. */
export const options = z
  .looseObject({})
  .meta({ description: '{"firehose":{"quality":false}}: also low quality, old pages' });

export const acceptDoubts = z
  .boolean()
  .optional()
  .meta({ description: 'Only if your user wants exactly this, in spite of a doubt' });

export const acceptEstimate = z
  .boolean()
  .optional()
  .meta({ description: 'Only if your user wants it in spite of the cost' });

export const expiresAt = z.string().nullable().meta({ description: 'RFC 3339; then it pauses; null: never' });

const registered = z.object({
  status: z.enum(['active', 'pending', 'failed', 'paused']),
  rule_type: z.string(),
  heard: z.string(),
  translated_value: z.string().meta({ description: 'As registered' }),
  active_since: z.string().nullable(),
  last_match_at: z.string().nullable(),
  match_count: z.int(),
});

export const ruleOutput = z.object({
  id: z.string(),
  name: z.string(),
  intent: z.string(),
  state: z.enum(['active', 'paused', 'failed']),
  version: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.string().nullable(),
  managed_by: z.string().nullable().meta({ description: 'Set of a rules file: change it there' }),
  platforms: z.record(z.string(), registered),
});

export function toRuleOutput(rule: Rule): z.output<typeof ruleOutput> {
  return {
    ...rule,
    name: unhidden(rule.name),
    intent: unhidden(rule.intent, { lines: true }),
    managed_by: rule.managed_by?.set ?? null,
    platforms: perPlatform(rule.platforms, (watched) => ({
      ...watched,
      heard: [watched.heard, watched.heard_reason ?? watched.heard_from].filter(Boolean).join(': '),
      translated_value: unhidden(watched.translated_value),
    })),
  };
}

/** What a change may have changed; get_rule has the rest. Short, as every schema is read by every agent. */
export const changedOutput = z.object({
  id: z.string(),
  state: z.string(),
  version: z.int(),
  expires_at: z.string().nullable(),
  platforms: z.record(z.string(), z.object({ status: z.string(), translated_value: z.string() })),
});

export function toChangedOutput(rule: Rule): z.output<typeof changedOutput> {
  const { id, state, version, expires_at, platforms: watched } = rule;
  return {
    id,
    state,
    version,
    expires_at,
    platforms: perPlatform(watched, ({ status, translated_value }) => ({
      status,
      translated_value: unhidden(translated_value),
    })),
  };
}
