import type { AnswerOf } from '@earshot/contract';
import { syntaxGuides } from '../../syntax/guides.ts';
import type { Route } from '../route.ts';

export function platformSyntaxRoute(): Route<'PlatformSyntax'> {
  return {
    id: 'PlatformSyntax',
    async handle(_principal, { platforms }) {
      const guides: AnswerOf<'PlatformSyntax'>['platforms'] = {};
      for (const platform of platforms) guides[platform] = syntaxGuides[platform];
      return { platforms: guides };
    },
  };
}
