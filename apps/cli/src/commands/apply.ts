import type { EarshotError } from '@earshot/sdk';
import { command } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { flag } from '../options.ts';
import { confirm } from '../output/confirm.ts';
import { jsonLine, spaced } from '../output/printable.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';
import { applyPlan, type StepOutcome } from '../rules-file/apply-plan.ts';
import { countOf, type Plan } from '../rules-file/plan.ts';
import { planJson, planText } from '../rules-file/plan-text.ts';
import { compareFile, fileArgument, invalidCode } from './rules-as-code.ts';

export const apply = command({
  name: 'apply',
  summary: 'make the rules of the account equal to a rules file',
  details:
    'Shows the plan and asks for confirmation. Changes rules first, then creates, then deletes; never touches rules of other sets. If a step fails, the others continue, and the command exits with 1. Press Ctrl+C to finish the current steps and stop. Run it again for the rest.',
  options: {
    yes: flag('do not ask for confirmation'),
    'accept-estimate': flag('start it although its estimated cost is above a budget'),
  },
  args: fileArgument,
  aboutJson: 'the plan and the outcome of every step as JSON on stdout; needs --yes',
  examples: ['earshot apply', 'earshot apply team.yaml --yes'],
  async run({ options, args }, context) {
    const { isJson, screen } = context;
    const compared = await compareFile(args.file, context);
    if (compared === null) return invalidCode;
    const { earshot, planned } = compared;
    if (!isJson) screen.print(planText(planned, screen.paint));
    if (countOf(planned) > 0 && !options.yes) {
      const asking = { ...screen, isInteractive: screen.isInteractive && !isJson };
      await confirm(asking, questionOf(planned), 'Confirm the plan with --yes.');
    }
    const { signal } = listenForStop();
    const outcomes = await applyPlan(planned, {
      earshot,
      acceptsEstimate: options['accept-estimate'] ?? false,
      stop: signal,
      report: (outcome) => {
        if (!isJson) screen.print(outcomeLine(outcome));
      },
    });
    if (isJson) screen.print(jsonLine({ plan: planJson(planned), steps: outcomes.map(outcomeJson) }));
    const notDone = outcomes.filter(({ outcome }) => outcome !== 'done').length;
    if (notDone > 0)
      screen.note(
        `${notDone} of ${outcomes.length} steps were not done. Run the command again for the rest.`,
      );
    if (signal.aborted) return exitCodeOfStop(signal);
    return notDone > 0 ? exitCodes.failed.code : exitCodes.done.code;
  },
});

function questionOf({ deletes }: Plan): string {
  return deletes.length > 0 ? 'Apply this plan? Deleted rules lose their matches.' : 'Apply this plan?';
}

const done = { create: 'created', update: 'changed', delete: 'deleted' } as const;

function outcomeLine(step: StepOutcome): string {
  switch (step.outcome) {
    case 'done':
      return `✓ ${done[step.action]} ${step.key} (${step.ruleId})`;
    case 'failed':
      return `✗ ${step.key} was not ${done[step.action]}: ${spaced(reasonOf(step.error))}`;
    case 'not_tried':
      return `- ${step.key} was not ${done[step.action]}: not started`;
  }
}

function reasonOf({ message, details }: EarshotError): string {
  const { violations = [], reason } = details;
  if (reason === 'version_changed') return `${message} Show the difference: earshot plan`;
  return violations.length === 0
    ? message
    : violations.map((one) => `${one.field}: ${one.message}`).join(' ');
}

function outcomeJson({ action, key, ...rest }: StepOutcome): object {
  switch (rest.outcome) {
    case 'done':
      return { action, key, outcome: rest.outcome, rule_id: rest.ruleId };
    case 'failed': {
      const { code, message, details } = rest.error;
      return { action, key, outcome: rest.outcome, error: { code, message, details } };
    }
    case 'not_tried':
      return { action, key, outcome: rest.outcome };
  }
}
