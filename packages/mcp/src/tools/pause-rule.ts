import { requestObject } from '@earshot/contract';
import { changedOutput, ruleId, toChangedOutput } from '../rule-fields.ts';
import { defineTool } from '../tool.ts';

export const pauseRule = defineTool({
  name: 'pause_rule',
  title: 'Pause a rule',
  description: 'Stop watching, keep the rule and its matches. It still counts towards the plan.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: requestObject({ rule_id: ruleId }),
  output: changedOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toChangedOutput(await earshot.pauseRule(args, { signal })),
  }),
});
