import { isClear } from '../diagnostics.ts';
import type { Language, Parsed } from '../language.ts';
import { canonicalText } from './canonical.ts';
import { evaluate, explain } from './evaluate.ts';
import { guide } from './guide.ts';
import { parse, readRule } from './parse.ts';
import { diagnose } from './validate.ts';

function canonical({ root, diagnostics }: Pick<Parsed, 'root' | 'diagnostics'>): string | null {
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return null;
  return canonicalText(root);
}

/** Firehose rules: Lucene's classic query syntax over pages that changed. */
export const firehoseLanguage: Language = {
  platform: 'firehose',
  parse,
  canonical,
  evaluate,
  explain,
  guide,
  validate(text) {
    const rule = readRule(text);
    const { root } = rule;
    const diagnostics = diagnose(rule);
    return {
      valid: diagnostics.every(isClear),
      diagnostics,
      canonical: canonical({ root, diagnostics }),
      root,
    };
  },
};
