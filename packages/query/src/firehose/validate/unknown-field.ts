import { error, type Fix, replace } from '../../diagnostics.ts';
import { closest, quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { fieldAliases, fields } from '../tables.ts';
import type { PlacedClause, View } from './rule.ts';

/** Bounds the work on a rule that has nothing but colons. */
const reportsMax = 100;

/** Lucene accepts any field name, and a rule on one that does not exist never matches. */
export function unknownField(view: View): void {
  let reports = 0;
  for (const placed of view.clauses) {
    const { field } = placed.clause;
    if (field === null || fields.has(field.name) || isMatchAll(placed)) continue;
    reports += 1;
    if (reports > reportsMax) return;
    const lower = field.name.toLowerCase();
    const meant = fieldAliases.get(lower) ?? closest(lower.slice(0, 40), fields.keys());
    const message = `There is no field ${quoted(field.name)}, so this never matches.`;
    if (meant !== null) {
      const fix = replace(`Use ${meant}`, field.span, meant);
      view.report(error('unknown_field', `${message} Did you mean \`${meant}\`?`, field.span, [fix]));
    } else {
      const help = `${message} Fields: ${[...fields.keys()].join(', ')}. To search for the colon, quote the text.`;
      view.report(error('unknown_field', help, field.span, quoteAll(placed)));
    }
  }
}

function isMatchAll({ clause }: PlacedClause): boolean {
  return clause.field?.name === '*' && clause.body.type === 'atom' && clause.body.value === '*';
}

function quoteAll({ clause: { field, body } }: PlacedClause): Fix[] {
  if (field === null || body.type === 'group' || (body.kind !== 'term' && body.kind !== 'quoted')) return [];
  return [
    replace('Search for it as text', [field.span[0], body.span[1]], quote(`${field.name} ${body.value}`)),
  ];
}
