import { command } from '../command.ts';
import { flag } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { countOf } from '../rules-file/plan.ts';
import { planJson, planText } from '../rules-file/plan-text.ts';
import { compareFile, fileArgument, invalidCode } from './rules-as-code.ts';

/** As others that compare do; what was typed wrong ends with 2 as well, but then nothing is printed. */
const changesCode = 2;

export const plan = command({
  name: 'plan',
  summary: 'compare a rules file with the rules of the account',
  details: `Says what \`earshot apply\` would create, change and delete. Changes nothing. The file, its rules and their examples are checked first, here; then the rules of the account are asked for once. Only rules of the file's own set are compared: those that were made by hand or belong to another set are counted and left alone. Ends with 5 when the file is invalid; with --exit-code it ends with ${changesCode} when there is something to do.`,
  options: { 'exit-code': flag(`end with ${changesCode} when there is something to do`) },
  args: fileArgument,
  aboutJson: 'the plan as JSON on stdout, an error as JSON on stderr',
  examples: ['earshot plan', 'earshot plan team.yaml --exit-code'],
  async run({ options, args }, context) {
    const { isJson, screen } = context;
    const compared = await compareFile(args.file, context);
    if (compared === null) return invalidCode;
    const { planned } = compared;
    screen.print(isJson ? jsonLine(planJson(planned)) : planText(planned, screen.paint));
    return options['exit-code'] && countOf(planned) > 0 ? changesCode : 0;
  },
});
