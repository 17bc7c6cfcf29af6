import { platformDescriptions, allPlatforms as platforms } from '@earshot/contract/platforms';
import { apiCommand } from '../api-command.ts';
import { oneOf } from '../options.ts';

const titles = Object.values(platformDescriptions)
  .map(({ title }) => title)
  .join(' and ');

export const syntax = apiCommand({
  name: 'syntax',
  summary: `explain how to write queries for ${titles}`,
  args: { platform: oneOf(platforms, 'only this platform (default: all)') },
  examples: ['earshot syntax x', `earshot syntax --json | jq -r '.platforms.x.operators[].form'`],
  doing: 'Getting the syntax',
  call: (earshot, { args }) => earshot.platformSyntax(args.platform && { platforms: [args.platform] }),
  show: (answer) =>
    platforms.flatMap((platform) => answer.platforms[platform]?.markdown.trimEnd() ?? []).join('\n\n'),
});
