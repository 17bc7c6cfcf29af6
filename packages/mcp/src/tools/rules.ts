import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { assertCheapToResume } from '../confirm-cost.ts';
import {
  acceptDoubts,
  acceptEstimate,
  budget,
  changedOutput,
  draftOverrides,
  expiresAt,
  platforms,
  readBudget,
  ruleId,
  ruleOutput,
  toChangedOutput,
  toRuleOutput,
} from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

const repeatable = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

const getRule = defineTool({
  name: 'get_rule',
  title: 'Get a rule',
  description: 'One rule: state, values as registered, whether it is heard, how many matches.',
  annotations: readsOnly,
  input: requestObject({ rule_id: ruleId }),
  output: ruleOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toRuleOutput(await earshot.getRule(args, { signal })),
  }),
});

const updateRule = defineTool({
  name: 'update_rule',
  title: 'Change a rule',
  description:
    'What is not named stays: overrides alone changes the platforms named there, with platforms the rule is on these and no others. A new value takes over without a gap, and the matches stay.',
  annotations: { ...repeatable, destructiveHint: true },
  input: requestObject({
    rule_id: ruleId,
    name: z.string().optional(),
    intent: z.string().optional(),
    platforms: platforms.optional(),
    overrides: draftOverrides.optional(),
    accept_doubts: acceptDoubts,
    expires_at: expiresAt.optional(),
    budget: budget.nullable().optional(),
  }),
  output: changedOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toChangedOutput(
      await earshot.updateRule({ ...args, budget: readBudget(args.budget) }, { signal }),
    ),
  }),
});

const pauseRule = defineTool({
  name: 'pause_rule',
  title: 'Pause a rule',
  description: 'Stop watching, keep the rule and its matches. It still counts towards the plan.',
  annotations: repeatable,
  input: requestObject({ rule_id: ruleId }),
  output: changedOutput,
  run: async (args, { earshot, signal }) => ({
    structured: toChangedOutput(await earshot.pauseRule(args, { signal })),
  }),
});

const resumeRule = defineTool({
  name: 'resume_rule',
  title: 'Resume a paused rule',
  description: 'Watch again. What was posted while it was paused is not fetched.',
  annotations: repeatable,
  input: requestObject({ rule_id: ruleId, accept_estimate: acceptEstimate }),
  output: changedOutput,
  async run(args, call) {
    if (!args.accept_estimate) await assertCheapToResume(args.rule_id, call);
    const { earshot, signal } = call;
    return { structured: toChangedOutput(await earshot.resumeRule(args, { signal })) };
  },
});

const deleteRule = defineTool({
  name: 'delete_rule',
  title: 'Delete a rule',
  description: 'For good, with its matches. To stop for a while: pause_rule.',
  annotations: { ...repeatable, destructiveHint: true },
  input: requestObject({ rule_id: ruleId }),
  output: z.object({ rule_id: z.string(), deleted_at: z.string() }),
  run: async (args, { earshot, signal }) => ({
    structured: await earshot.deleteRule(args, { signal }),
  }),
});

/** What is done with one rule that exists. */
export const ruleTools = [getRule, updateRule, pauseRule, resumeRule, deleteRule];
