import { command } from '../command.ts';
import { flag } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { countOf } from '../rules-file/plan.ts';
import { planJson, planText } from '../rules-file/plan-text.ts';
import { compareFile, fileArgument, invalidCode } from './rules-as-code.ts';

/** As in similar tools. A usage error also exits with 2, but prints nothing on stdout. */
const changesCode = 2;

export const plan = command({
  name: 'plan',
  summary: 'compare a rules file with the rules of the account',
  details: 'Shows what `earshot apply` would create, change and delete.',
  options: { 'exit-code': flag(`exit with ${changesCode} if there is something to do`) },
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
