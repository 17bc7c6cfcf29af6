import { requestObject } from '@earshot/contract';
import type { Answers } from '@earshot/sdk';
import { z } from 'zod';
import { estimateWords } from '../estimate-words.ts';
import { perPlatform } from '../per-platform.ts';
import { draftOverrides, options, platforms, ruleId } from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

type Previewed = NonNullable<Answers['PreviewRule']['platforms']['x']>;

/** Answers with numbers only. The items are untrusted content, which only list_matches shows. */
export const previewRule = defineTool({
  name: 'preview_rule',
  title: 'Preview a rule',
  description:
    'Before creating or changing: matches and dollars a day, how many stored items the query matches, and with rule_id what it would change. Creates nothing; fee_usd is the cost of this call.',
  // Earshot requests counts from X, which charges for them: a host may ask its user first.
  annotations: { ...readsOnly, readOnlyHint: false, openWorldHint: true },
  operation: 'PreviewRule',
  input: requestObject({
    platforms: platforms.optional(),
    overrides: draftOverrides,
    options: options.optional(),
    rule_id: ruleId.optional(),
  }),
  output: z.object({
    platforms: z.record(
      z.string(),
      z.object({
        warnings: z.array(z.string()),
        matches_per_day: z.string(),
        usd_per_day: z.string(),
        usd_per_month: z.string(),
        basis: z.string(),
        fee_usd: z.number(),
        sample: z.string(),
        against: z.string().optional(),
      }),
    ),
  }),
  async run(args, { earshot, signal }) {
    const { platforms: previewed } = await earshot.previewRule(args, { signal });
    return { structured: { platforms: perPlatform(previewed, toOutput) } };
  },
});

function toOutput({ warnings, estimate, sample, against }: Previewed) {
  return {
    warnings: warnings.map(({ severity, message }) => `${severity}: ${message}`),
    ...estimateWords(estimate),
    basis: `${estimate.basis}: ${estimate.basis_note}`,
    fee_usd: estimate.fee_usd,
    sample: `${sample.matched} of ${sample.evaluated} stored items match, ${sample.undecided} undecided${sample.is_sampled ? ' (a random part)' : ''}`,
    ...(against && {
      against: `${against.is_estimate ? 'about ' : ''}+${against.added}, -${against.removed}, ${against.undecided} undecided`,
    }),
  };
}
