import { requestObject } from '@earshot/contract';
import { ruleId, ruleOutput, toRuleOutput } from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

export const getRule = defineTool({
  name: 'get_rule',
  title: 'Get a rule',
  description: 'One rule: state, values as registered, since when it is watched, how many matches.',
  annotations: readsOnly,
  input: requestObject({ rule_id: ruleId }),
  output: ruleOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toRuleOutput(await earshot.getRule(args, { signal })),
  }),
});
