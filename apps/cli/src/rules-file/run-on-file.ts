import { readFile } from 'node:fs/promises';
import type { Earshot } from '@earshot/sdk';
import { Failure } from '../failure.ts';
import { type Plan, planRules } from './plan.ts';
import { type CheckedFile, checkRulesFile, type Finding } from './rules-file.ts';
import { readSourceFile } from './source-file.ts';

export const rulesFileDefault = 'rules.yaml';

export async function loadRulesFile(path: string): Promise<CheckedFile> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Failure('usage', `The rules file ${path} cannot be read.`, { cause });
  });
  return checkRulesFile(readSourceFile(path, text));
}

/** Errors, which prevent the file from being applied, and warnings. */
export function findingsOf({ findings, examples }: CheckedFile): { errors: Finding[]; warnings: Finding[] } {
  const all = [...findings, ...examples.flatMap(({ finding }) => finding ?? [])];
  return {
    errors: all.filter(({ severity }) => severity === 'error'),
    warnings: all.filter(({ severity }) => severity === 'warning'),
  };
}

/** Lists the rules of the account with one request, and compares them. */
export async function planFile(earshot: Pick<Earshot, 'listRules'>, file: CheckedFile): Promise<Plan> {
  const { rules } = await earshot.listRules();
  return planRules(file, rules);
}
