import { isClear } from '../diagnostics.ts';
import type { Language } from '../language.ts';
import { canonical } from './canonical.ts';
import { evaluate, explain } from './evaluate.ts';
import { guide } from './guide.ts';
import { parse, readRule } from './parser.ts';
import { xDialect } from './tables.ts';
import { diagnose, xValueRules } from './validate.ts';

/** X filtered-stream rules. */
export const xLanguage: Language = {
  platform: 'x',
  parse: (text) => parse(text, xDialect),
  canonical: (parsed) => canonical(parsed, xDialect),
  evaluate,
  explain,
  guide,
  validate(text, options = {}) {
    const rule = readRule(text, xDialect);
    const diagnostics = diagnose(rule, {
      dialect: xDialect,
      valueRules: xValueRules,
      tier: options.tier ?? 'standard',
    });
    return {
      valid: diagnostics.every(isClear),
      diagnostics,
      canonical: canonical({ ...rule, diagnostics }, xDialect),
      root: rule.root,
    };
  },
};
