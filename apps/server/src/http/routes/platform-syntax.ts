import { syntaxGuides } from '../../language/rule-language.ts';
import type { Route } from '../route.ts';

export function platformSyntaxRoute(): Route<'PlatformSyntax'> {
  return {
    id: 'PlatformSyntax',
    handle: async (_principal, { platforms }) => ({ platforms: syntaxGuides(platforms) }),
  };
}
