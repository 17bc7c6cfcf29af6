import type { Tool } from './tool.ts';
import { createRule } from './tools/create-rule.ts';
import { deleteRule } from './tools/delete-rule.ts';
import { getCoverage } from './tools/get-coverage.ts';
import { getRule } from './tools/get-rule.ts';
import { listMatches } from './tools/list-matches.ts';
import { listRules } from './tools/list-rules.ts';
import { pauseRule } from './tools/pause-rule.ts';
import { platformSyntax } from './tools/platform-syntax.ts';
import { resumeRule } from './tools/resume-rule.ts';
import { updateRule } from './tools/update-rule.ts';
import { validateRule } from './tools/validate-rule.ts';
import { waitForMatches } from './tools/wait-for-matches.ts';

/** In the order in which an agent needs them. */
export const tools: readonly Tool[] = [
  platformSyntax,
  validateRule,
  createRule,
  waitForMatches,
  listMatches,
  listRules,
  getRule,
  updateRule,
  pauseRule,
  resumeRule,
  deleteRule,
  getCoverage,
];
