import { certain, error, type Fix, replace } from '../../diagnostics.ts';
import { closest, quoted } from '../../text.ts';
import { escapeTerm } from '../escape.ts';
import { fieldAliases, fields, fieldsElsewhere, fieldsRewritten } from '../tables.ts';
import { type PlacedClause, removal, type View } from './rule.ts';

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
    const elsewhere = fieldsElsewhere.get(lower);
    const alias = fieldAliases.get(lower);
    const meant = alias ?? (elsewhere === undefined ? closest(lower.slice(0, 40), fields.keys()) : null);
    const message = `There is no field ${quoted(field.name)}, so this never matches.`;
    const rewrite = fieldsRewritten.get(lower);
    const { body } = placed.clause;
    if (rewrite !== undefined && body.type === 'atom' && /^[\w-]+$/.test(body.value)) {
      const text = rewrite(body.value);
      const fix = replace(`Write ${text}`, [field.span[0], body.span[1]], text);
      view.report(error('unknown_field', `${message} Did you mean \`${text}\`?`, field.span, [fix]));
      continue;
    }
    if (meant !== null) {
      const fixes = [fixTo(placed, meant, alias !== undefined || meant === lower)];
      view.report(error('unknown_field', `${message} Did you mean \`${meant}\`?`, field.span, fixes));
    } else {
      const help =
        elsewhere ?? `Fields: ${[...fields.keys()].join(', ')}. To search for a colon, quote the text`;
      view.report(error('unknown_field', `${message} ${help}.`, field.span, removalOf(placed, view)));
    }
  }
}

function isMatchAll({ clause }: PlacedClause): boolean {
  return clause.field?.name === '*' && clause.body.type === 'atom' && clause.body.value === '*';
}

/** Other engines find a part of the URL, where this field holds the whole. */
const inUrl: ReadonlySet<string> = new Set(['inurl', 'allinurl']);

function fixTo({ clause: { field, body } }: PlacedClause, meant: string, isAlias: boolean): Fix {
  const span = field?.span ?? body.span;
  const isPart = inUrl.has(field?.name.toLowerCase() ?? '') && body.type === 'atom';
  if (isPart && (body.kind === 'term' || body.kind === 'quoted'))
    return certain(replace(`Use ${meant}`, [span[0], body.span[1]], `${meant}:*${escapeTerm(body.value)}*`));
  const fix = replace(`Use ${meant}`, span, meant);
  return isAlias && !looseAliases.has(field?.name.toLowerCase() ?? '') ? certain(fix) : fix;
}

/** Names that may be meant in more than one way. */
const looseAliases: ReadonlySet<string> = new Set(['since', 'age', 'date', 'link', 'anchor', 'topic']);

/** What excludes retweets, replies and the like excludes no page, so it can go. */
function removalOf(placed: PlacedClause, view: View): Fix[] {
  if (view.hasSyntaxErrors) return [];
  const { field, modifier } = placed.clause;
  const isOfPosts = /^(?:is|has)$/i.test(field?.name ?? '') && modifier?.kind === 'prohibit';
  return isOfPosts ? removal(placed).map(certain) : removal(placed);
}
