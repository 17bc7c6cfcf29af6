import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { ruleId } from '../rule-fields.ts';
import { defineTool } from '../tool.ts';

export const deleteRule = defineTool({
  name: 'delete_rule',
  title: 'Delete a rule',
  description: 'For good, with its matches. To stop for a while: pause_rule.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: requestObject({ rule_id: ruleId }),
  output: z.object({ rule_id: z.string(), deleted_at: z.string() }),
  run: async (args, { earshot, signal }) => ({
    structured: await earshot.deleteRule(args, { signal }),
  }),
});
