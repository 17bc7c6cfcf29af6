import { hint } from '../../diagnostics.ts';
import type { View } from './rule.ts';

/** One plain word matches far too much, and every match is billed. */
export function broadRule(view: View): void {
  const { root } = view;
  if (view.hasSyntaxErrors || view.atoms.length > 1) return;
  if (root?.kind !== 'leaf' || root.test.type !== 'term' || !/^(?:added|removed|title)$/.test(root.field))
    return;
  const message =
    'One word alone matches many pages, and each is billed. Narrow it, for example with `AND language:"en"`, `AND page_category:"/News"` or `AND dr:[50 TO *]`.';
  view.report(hint('broad_rule', message, root.span));
}
