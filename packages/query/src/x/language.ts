import { isClear } from '../diagnostics.ts';
import type { Language } from '../language.ts';
import { canonical } from './canonical.ts';
import { evaluate, explain } from './evaluate.ts';
import { guide } from './guide.ts';
import { parse, readRule } from './parser.ts';
import { diagnose } from './validate.ts';

/** X filtered-stream rules. */
export const xLanguage: Language = {
  platform: 'x',
  parse,
  canonical,
  evaluate,
  explain,
  guide,
  validate(text, options = {}) {
    const rule = readRule(text);
    const diagnostics = diagnose(rule, options.tier ?? 'standard');
    return {
      valid: diagnostics.every(isClear),
      diagnostics,
      canonical: canonical({ ...rule, diagnostics }),
      root: rule.root,
    };
  },
};
