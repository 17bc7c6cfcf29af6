import { blueskyLanguage } from './bluesky/language.ts';
import { firehoseLanguage } from './firehose/language.ts';
import type { Language, Platform } from './language.ts';
import { xLanguage } from './x/language.ts';

export type { LeafNode, Node, Span, Test } from './ast.ts';
export { corrected } from './correct.ts';
export { applyFix, type Diagnostic, type Edit, type Fix, type Severity } from './diagnostics.ts';
export { type JudgedExample, judgeExamples, notDecided, type RuleExamples } from './example.ts';
export { leavesOf } from './explain.ts';
export { createPageMatcher } from './firehose/evaluate.ts';
export { firehoseLanguage } from './firehose/language.ts';
export { checkIntent, type IntentHint } from './intent.ts';
export type {
  Evidence,
  Explanation,
  Flip,
  Language,
  Parsed,
  Platform,
  State,
  SyntaxGuide,
  Tier,
  Token,
  Validated,
  ValidateOptions,
  Verdict,
} from './language.ts';
export { createPercolator, type Percolator } from './percolator.ts';
export { renderDiagnostic, renderDiagnostics } from './render.ts';
export { requiredKeys } from './required-keys.ts';
export { createRuleIndex, type Keyed, type Matcher, type RuleIndex } from './rule-index.ts';
export { closest } from './text.ts';
export { underline, widthOf } from './underline.ts';
export { type CountsQuery, countsQuery } from './x/counts.ts';
export { entityPatterns } from './x/entity-patterns.ts';
export { xLanguage } from './x/language.ts';
export { type Searchability, searchability, searchLengthMax } from './x/search.ts';
export { upstreamDetails } from './x/upstream-details.ts';

/** The rule language of each platform. */
export const languages: Readonly<Record<Platform, Language>> = {
  x: xLanguage,
  firehose: firehoseLanguage,
  bluesky: blueskyLanguage,
};
