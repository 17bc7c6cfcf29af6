import { requestObject } from '@earshot/contract';
import { changedOutput, ruleId, toChangedOutput } from '../rule-fields.ts';
import { defineTool } from '../tool.ts';

export const resumeRule = defineTool({
  name: 'resume_rule',
  title: 'Resume a paused rule',
  description: 'Watch again. What was posted while it was paused is not fetched.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: requestObject({ rule_id: ruleId }),
  output: changedOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toChangedOutput(await earshot.resumeRule(args, { signal })),
  }),
});
