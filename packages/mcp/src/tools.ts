import type { Tool } from './tool.ts';
import { countMatches } from './tools/count-matches.ts';
import { createRule } from './tools/create-rule.ts';
import { getCoverage } from './tools/get-coverage.ts';
import { getUsage } from './tools/get-usage.ts';
import { labelMatches } from './tools/label-matches.ts';
import { listMatches } from './tools/list-matches.ts';
import { listNotices } from './tools/list-notices.ts';
import { listRules } from './tools/list-rules.ts';
import { notifyBy } from './tools/notify-by.ts';
import { platformSyntax } from './tools/platform-syntax.ts';
import { previewRule } from './tools/preview-rule.ts';
import { readerTools } from './tools/readers.ts';
import { ruleTools } from './tools/rules.ts';
import { validateRule } from './tools/validate-rule.ts';
import { waitForMatches } from './tools/wait-for-matches.ts';

/** In the order in which an agent needs them. */
export const tools: readonly Tool[] = [
  platformSyntax,
  validateRule,
  previewRule,
  createRule,
  waitForMatches,
  listMatches,
  countMatches,
  labelMatches,
  ...readerTools,
  listRules,
  ...ruleTools,
  notifyBy,
  getCoverage,
  getUsage,
  listNotices,
];
