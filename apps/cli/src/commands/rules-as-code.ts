import type { Context } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { text } from '../options.ts';
import type { CheckedFile, Finding } from '../rules-file/rules-file.ts';
import { findingsOf, loadRulesFile, rulesFileDefault } from '../rules-file/run-on-file.ts';

/** What `plan`, `apply` and `test` have in common: the file that they read. */
export const fileArgument = {
  file: text('<file>', `the rules file (default: ${rulesFileDefault})`),
} as const;

export const invalidCode = exitCodes.invalid.code;

export function findingJson({ severity, place, code, message }: Finding): object {
  return { severity, ...place, code, message };
}

/** The file if it can be applied. Otherwise everything that is wrong with it is told, and nothing was asked of anybody. */
export async function loadValidFile(
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
      JSON.stringify({
        code: 'invalid',
        message: 'The rules file is not valid.',
        details: { findings: all.map(findingJson) },
      }),
    );
  else for (const { rendered } of all) screen.note(rendered);
  return null;
}
