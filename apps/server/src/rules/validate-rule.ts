import type { AnswerOf, RequestOf } from '@earshot/contract';
import { checkValue } from '../language/rule-language.ts';

/** What CreateRule would say about the values, with nothing created. */
export function validateRule({ platforms, overrides }: RequestOf<'ValidateRule'>): AnswerOf<'ValidateRule'> {
  const checked: AnswerOf<'ValidateRule'>['platforms'] = {};
  for (const platform of platforms) {
    const { canonical, diagnostics } = checkValue(platform, overrides[platform] ?? '');
    checked[platform] = {
      valid: canonical !== null,
      translated_value: canonical,
      diagnostics: [...diagnostics],
    };
  }
  return { platforms: checked };
}
