import type { Earshot } from '@earshot/sdk';
import type { Context } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import type { Plan } from '../rules-file/plan.ts';
import type { CheckedFile, Finding } from '../rules-file/rules-file.ts';
import { findingsOf, loadRulesFile, planFile, rulesFileDefault } from '../rules-file/run-on-file.ts';

/** The file argument of `plan`, `apply` and `test`. */
export const fileArgument = {
  file: text('<file>', `the rules file (default: ${rulesFileDefault})`),
} as const;

export const invalidCode = exitCodes.invalid.code;

export function findingJson({ severity, place, code, message }: Finding): object {
  return { severity, ...place, code, message };
}

/** Compares the file with the account. If the file is invalid, prints its findings and returns null. */
export async function compareFile(
  path: string | undefined,
  context: Pick<Context, 'connect' | 'isJson' | 'screen'>,
): Promise<{ earshot: Earshot; planned: Plan } | null> {
  const file = await loadValidFile(path, context);
  if (file === null) return null;
  const earshot = await context.connect();
  const planned = await context.screen.waitFor('Comparing', planFile(earshot, file));
  return { earshot, planned };
}

/** Reads and checks the file, without a request. If it is invalid, prints its findings and returns null. */
async function loadValidFile(
  path: string | undefined,
  { isJson, screen }: Pick<Context, 'isJson' | 'screen'>,
): Promise<CheckedFile | null> {
  const file = await loadRulesFile(path ?? rulesFileDefault);
  const { errors, warnings } = findingsOf(file);
  if (errors.length === 0) {
    if (!isJson) for (const { rendered } of warnings) screen.note(rendered);
    return file;
  }
  const all = [...errors, ...warnings];
  if (isJson)
    screen.note(
      jsonLine({
        code: 'invalid',
        message: 'The rules file is not valid.',
        details: { findings: all.map(findingJson) },
      }),
    );
  else for (const { rendered } of all) screen.note(rendered);
  return null;
}
