import { requestObject } from '@earshot/contract';
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
  operation: 'PlatformSyntax',
  input: requestObject({ platforms: platforms.optional().meta({ description: 'Default: all' }) }),
  async run(args, { earshot, signal }) {
    const answer = await earshot.platformSyntax(args, { signal });
    const guides = perPlatform(answer.platforms, ({ markdown }) => markdown);
    return { text: Object.values(guides).join('\n') };
  },
});
