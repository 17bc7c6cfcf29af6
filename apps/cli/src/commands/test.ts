import { command } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { jsonLine } from '../output/printable.ts';
import { findingsOf, loadRulesFile, rulesFileDefault } from '../rules-file/run-on-file.ts';
import { failedExamples, testReport } from '../rules-file/test-report.ts';
import { fileArgument, findingJson, invalidCode } from './rules-as-code.ts';

export const test = command({
  name: 'test',
  summary: 'check the examples of a rules file, without a server',
  details:
    'Evaluates every `must_match` and `must_not_match` as the server would, and shows the clause that decided. Undecided examples do not fail. Exits with 1 if an example fails.',
  args: fileArgument,
  aboutJson: 'the outcome of every example as JSON on stdout',
  examples: ['earshot test', 'earshot test team.yaml --json'],
  async run({ args }, { isJson, screen }) {
    const path = args.file ?? rulesFileDefault;
    const file = await loadRulesFile(path);
    const broken = file.findings.filter(({ severity }) => severity === 'error');
    const failed = failedExamples(file);
    if (isJson) screen.print(jsonLine(asJson(file)));
    else {
      for (const { rendered } of broken) screen.note(rendered);
      if (broken.length === 0) screen.print(testReport(path, file));
    }
    if (broken.length > 0) return invalidCode;
    return failed.length > 0 ? exitCodes.failed.code : exitCodes.done.code;
  },
});

function asJson(file: Awaited<ReturnType<typeof loadRulesFile>>): object {
  return {
    findings: findingsOf({ ...file, examples: [] }).errors.map(findingJson),
    examples: file.examples.map(({ key, expectation, index, platform, outcome, message, place }) => ({
      key,
      expectation,
      index,
      platform,
      outcome,
      message,
      ...place,
    })),
  };
}
