import { type AnswerOf, listedPlatforms } from '@earshot/contract';
import { checkIntent } from '@earshot/query';
import type { Call } from '../accounts/call.ts';
import { checkValue, type Tiers } from '../language/rule-language.ts';
import { type CheckedExamples, checkExamples } from './check-rule.ts';

/** Reports what CreateRule would report about the queries and examples. Nothing is created. */
export function validateRule(tiers: Tiers) {
  return async ({
    principal,
    request,
  }: Pick<Call<'ValidateRule'>, 'principal' | 'request'>): Promise<AnswerOf<'ValidateRule'>> => {
    const { overrides, examples, intent } = request;
    const platforms = listedPlatforms(request);
    const checked: AnswerOf<'ValidateRule'>['platforms'] = {};
    for (const platform of platforms) {
      const { valid, canonical, diagnostics } = checkValue(platform, overrides[platform] ?? '', tiers);
      checked[platform] = { valid, translated_value: canonical, diagnostics: [...diagnostics] };
    }
    const hints = intent === undefined ? {} : { intent_hints: checkIntent(intent) };
    if (!examples) return { platforms: checked, ...hints };
    const invalid = new Set(platforms.filter((platform) => checked[platform]?.translated_value === null));
    const found = await checkExamples(principal.accountId, overrides, examples, invalid);
    return { ...withExamples(checked, found), ...hints };
  };
}

function withExamples(
  platforms: AnswerOf<'ValidateRule'>['platforms'],
  { violations, warnings, failing }: CheckedExamples,
): AnswerOf<'ValidateRule'> {
  for (const [platform, undecided] of warnings) platforms[platform]?.diagnostics.push(...undecided);
  for (const platform of failing) {
    const validation = platforms[platform];
    if (validation) validation.valid = false;
  }
  return { platforms, example_violations: [...violations] };
}
