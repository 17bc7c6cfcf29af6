import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { describePlatforms, perPlatform } from '../per-platform.ts';
import { platforms } from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

const kinds = describePlatforms(
  (platform, { items, ruleType, allowance }) => `${platform}: ${items}, ${ruleType}, ${allowance}.`,
  ' ',
);

export const platformSyntax = defineTool({
  name: 'platform_syntax',
  title: 'Rule syntax of a platform',
  description: `START HERE before writing or changing a rule: operators, pitfalls and examples of a platform; their languages differ. ${kinds} Every match is billed, so keep rules narrow.`,
  annotations: readsOnly,
  input: requestObject({ platforms: platforms.optional().meta({ description: 'Default: all' }) }),
  output: z.object({
    platforms: z.record(z.string(), z.object({ rule_type: z.string(), guide: z.string() })),
  }),
  async run(args, { earshot, signal }) {
    const answer = await earshot.platformSyntax(args, { signal });
    const guides = perPlatform(answer.platforms, ({ rule_type, markdown }) => ({
      rule_type,
      guide: markdown,
    }));
    return {
      structured: { platforms: guides },
      text: Object.values(guides)
        .map(({ guide }) => guide)
        .join('\n'),
    };
  },
});
