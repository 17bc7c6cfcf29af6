import { requestObject } from '@earshot/contract';
import { EarshotError, type Rule } from '@earshot/sdk';
import { z } from 'zod';
import { assertCheapToResume, assertCheapToUpdate } from '../confirm-cost.ts';
import {
  acceptEstimate,
  acceptSuspicious,
  budget,
  changedOutput,
  draftExamples,
  draftOverrides,
  expiresAt,
  options,
  platforms,
  readBudget,
  readExamples,
  readExpiry,
  ruleId,
  ruleOutput,
  toChangedOutput,
  toRuleOutput,
} from '../rule-fields.ts';
import { defineTool, readsOnly, type ToolCall } from '../tool.ts';

const repeatable = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

const getRule = defineTool({
  name: 'get_rule',
  title: 'Get a rule',
  description: 'One rule: state, registered queries, whether matches arrive, how many.',
  annotations: readsOnly,
  operation: 'GetRule',
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
    'Fields that you leave out stay: overrides changes or adds the platforms named there and keeps the others. A new query takes over without a gap, and the matches stay.',
  annotations: { ...repeatable, destructiveHint: true },
  operation: 'UpdateRule',
  input: requestObject({
    rule_id: ruleId,
    name: z.string().optional(),
    intent: z.string().optional(),
    platforms: platforms
      .optional()
      .meta({ description: 'Only to leave platforms, without overrides: those to keep' }),
    overrides: draftOverrides.optional(),
    options: options.optional(),
    examples: draftExamples.optional(),
    accept_suspicious: acceptSuspicious,
    expires_at: expiresAt.optional(),
    budget: budget.optional().meta({ description: 'As of create_rule; or none' }),
    accept_estimate: acceptEstimate,
  }),
  output: changedOutput,
  async run({ platforms: listed, ...args }, call) {
    const request = {
      ...readExpiry(args),
      examples: readExamples(args.examples),
      budget: readBudget(args.budget),
      ...(listed && !areThoseOf(args.overrides, listed) && { platforms: listed }),
    };
    if (!args.accept_estimate) await assertCheapToUpdate(request, call);
    return { structured: toChangedOutput(await call.earshot.updateRule(request, { signal: call.signal })) };
  },
});

/**
 * Agents may list the platforms of their new queries, as in create_rule. The API would then remove the rule from all other
 * platforms. A list that only repeats the overrides does not ask for that.
 */
function areThoseOf(overrides: object | undefined, listed: readonly string[]): boolean {
  const named = Object.keys(overrides ?? {});
  return named.length === listed.length && named.every((name) => listed.includes(name));
}

const pauseRule = defineTool({
  name: 'pause_rule',
  title: 'Pause a rule',
  description: 'Stop watching, keep the rule and its matches. It still counts towards the plan.',
  annotations: repeatable,
  operation: 'PauseRule',
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
  operation: 'ResumeRule',
  input: requestObject({ rule_id: ruleId, accept_estimate: acceptEstimate }),
  output: changedOutput,
  async run(args, call) {
    if (!args.accept_estimate) await assertCheapToResume(args.rule_id, call);
    return {
      structured: toChangedOutput(
        await unlessActive(args.rule_id, call, ({ earshot, signal }) => earshot.resumeRule(args, { signal })),
      ),
    };
  },
});

/** The API refuses to resume an active rule. For an agent that calls twice, that is not an error. */
async function unlessActive(
  ruleId: string,
  call: ToolCall,
  change: (call: ToolCall) => Promise<Rule>,
): Promise<Rule> {
  try {
    return await change(call);
  } catch (error) {
    if (!(error instanceof EarshotError && error.details.reason === 'not_paused')) throw error;
    const rule = await ruleOrNull(ruleId, call);
    if (rule?.state === 'active') return rule;
    throw error;
  }
}

/** Null if the key may not read rules. */
async function ruleOrNull(ruleId: string, { earshot, signal }: ToolCall): Promise<Rule | null> {
  try {
    return await earshot.getRule({ rule_id: ruleId }, { signal });
  } catch (error) {
    if (error instanceof EarshotError) return null;
    throw error;
  }
}

const deleteRule = defineTool({
  name: 'delete_rule',
  title: 'Delete a rule',
  description: 'For good, with its matches. To stop for a while: pause_rule.',
  annotations: { ...repeatable, destructiveHint: true },
  operation: 'DeleteRule',
  input: requestObject({ rule_id: ruleId }),
  output: z.object({ rule_id: z.string(), deleted_at: z.string() }),
  run: async (args, { earshot, signal }) => ({
    structured: await earshot.deleteRule(args, { signal }),
  }),
});

/** Tools for one existing rule. */
export const ruleTools = [getRule, updateRule, pauseRule, resumeRule, deleteRule];
