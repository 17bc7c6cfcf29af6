import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { changedOutput, expiresAt, overrides, platforms, ruleId, toChangedOutput } from '../rule-fields.ts';
import { defineTool } from '../tool.ts';

export const updateRule = defineTool({
  name: 'update_rule',
  title: 'Change a rule',
  description:
    'What is not named stays. A new value needs platforms and overrides, for all platforms that the rule shall be on; it takes over without a gap, and the matches stay.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: requestObject({
    rule_id: ruleId,
    name: z.string().optional(),
    intent: z.string().optional(),
    platforms: platforms.optional(),
    overrides: overrides.optional(),
    expires_at: expiresAt.optional(),
  }),
  output: changedOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toChangedOutput(await earshot.updateRule(args, { signal })),
  }),
});
