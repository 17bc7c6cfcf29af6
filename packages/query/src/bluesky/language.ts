import { isClear } from '../diagnostics.ts';
import type { Language } from '../language.ts';
import { canonical } from '../x/canonical.ts';
import { parse, readRule } from '../x/parser.ts';
import { evaluate, explain } from './evaluate.ts';
import { guide } from './guide.ts';
import { blueskyDialect } from './tables.ts';
import { diagnose } from './validate.ts';

/** Rules for Bluesky posts: X's grammar with the operators that a post decides. Earshot evaluates them itself. */
export const blueskyLanguage: Language = {
  platform: 'bluesky',
  parse: (text) => parse(text, blueskyDialect),
  canonical: (parsed) => canonical(parsed, blueskyDialect),
  evaluate,
  explain,
  guide,
  validate(text) {
    const rule = readRule(text, blueskyDialect);
    const diagnostics = diagnose(rule);
    return {
      valid: diagnostics.every(isClear),
      diagnostics,
      canonical: canonical({ ...rule, diagnostics }, blueskyDialect),
      root: rule.root,
    };
  },
};
