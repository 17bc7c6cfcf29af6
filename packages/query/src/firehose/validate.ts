import { type Diagnostic, inTextOrder } from '../diagnostics.ts';
import { fullWidth } from '../full-width.ts';
import type { ReadRule } from './parse.ts';
import type { Atom, Group } from './surface.ts';
import { defaultField } from './tables.ts';
import { boost } from './validate/boost.ts';
import { breadth } from './validate/breadth.ts';
import { comparison } from './validate/comparison.ts';
import { deadClause } from './validate/dead-clause.ts';
import { domainRating } from './validate/domain-rating.ts';
import { domainValue } from './validate/domain-value.ts';
import { droppedSigns } from './validate/dropped-signs.ts';
import { emptyPhrase } from './validate/empty-phrase.ts';
import { escapedSpace } from './validate/escaped-space.ts';
import { exactUrl } from './validate/exact-url.ts';
import { filterReference } from './validate/filter-reference.ts';
import { foreignOperator } from './validate/foreign-operator.ts';
import { fuzzyDistance } from './validate/fuzzy-distance.ts';
import { gluedRegex } from './validate/glued-regex.ts';
import { ignoredClause } from './validate/ignored-clause.ts';
import { implicitOperator } from './validate/implicit-operator.ts';
import { impossibleRegex } from './validate/impossible-regex.ts';
import { languageCode } from './validate/language-code.ts';
import { leafCount } from './validate/leaf-count.ts';
import { loneSign } from './validate/lone-sign.ts';
import { lowercaseOperator } from './validate/lowercase-operator.ts';
import { matchAll } from './validate/match-all.ts';
import { nothingLeft } from './validate/nothing-left.ts';
import { onlyNegations } from './validate/only-negations.ts';
import { orNot } from './validate/or-not.ts';
import { pageCategory } from './validate/page-category.ts';
import { pageType } from './validate/page-type.ts';
import { patternUse } from './validate/pattern-use.ts';
import { publishDate } from './validate/publish-date.ts';
import { qualityFilter } from './validate/quality-filter.ts';
import { quotedWildcard } from './validate/quoted-wildcard.ts';
import { recentPlacement } from './validate/recent-placement.ts';
import { recentWindow } from './validate/recent-window.ts';
import { regexDialect } from './validate/regex-dialect.ts';
import {
  type AtomRule,
  foreignQuotes,
  type GroupRule,
  type PlacedAtom,
  type PlacedClause,
  type View,
  type ViewRule,
} from './validate/rule.ts';
import { smartQuotes } from './validate/smart-quotes.ts';
import { stopWords } from './validate/stop-words.ts';
import { unknownField } from './validate/unknown-field.ts';
import { unquotedTokens } from './validate/unquoted-tokens.ts';

const viewRules: readonly ViewRule[] = [
  unknownField,
  recentPlacement,
  boost,
  smartQuotes,
  nothingLeft,
  leafCount,
  breadth,
  qualityFilter,
];

const groupRules: readonly GroupRule[] = [onlyNegations, implicitOperator, deadClause, orNot];

const valueRules: readonly AtomRule[] = [
  languageCode,
  pageType,
  pageCategory,
  domainRating,
  domainValue,
  recentWindow,
  publishDate,
  exactUrl,
  ignoredClause,
  droppedSigns,
];

const patternRules: readonly AtomRule[] = [patternUse, domainRating, recentWindow, exactUrl];

const atomRules: Readonly<Record<Atom['kind'], readonly AtomRule[]>> = {
  term: [
    ...valueRules,
    comparison,
    filterReference,
    unquotedTokens,
    patternUse,
    fuzzyDistance,
    lowercaseOperator,
    foreignOperator,
    escapedSpace,
  ],
  quoted: [...valueRules, emptyPhrase, quotedWildcard, stopWords],
  lone_sign: [...valueRules, loneSign],
  prefix: [...patternRules, impossibleRegex],
  wildcard: [...patternRules, matchAll, impossibleRegex],
  regex: [...patternRules, gluedRegex, regexDialect, impossibleRegex],
  range: [...patternRules, publishDate],
};

/** Finding the nearest label is the slowest check, so only the first mistakes get a suggestion. */
const suggestionsMax = 5;

/** The diagnostics of the parser and of every validation rule, in text order. */
export function diagnose(rule: ReadRule): readonly Diagnostic[] {
  const diagnostics = [...rule.diagnostics];
  const view = createView(rule, (diagnostic) => diagnostics.push(diagnostic));
  if (view === null) return diagnostics;
  for (const check of viewRules) check(view);
  fullWidth(rule.text, (found) => view.report(found));
  for (const group of view.groups) for (const check of groupRules) check(group, view);
  for (const placed of view.atoms) for (const check of atomRules[placed.atom.kind]) check(placed, view);
  return inTextOrder(diagnostics);
}

function createView(
  { text, root, top, diagnostics }: ReadRule,
  report: (diagnostic: Diagnostic) => void,
): View | null {
  if (top === null) return null;
  const groups: Group[] = [];
  const clauses: PlacedClause[] = [];
  const atoms: PlacedAtom[] = [];
  const walk = (group: Group, inherited: string): void => {
    groups.push(group);
    group.clauses.forEach((clause, index) => {
      const field = clause.field?.name ?? inherited;
      const { body } = clause;
      if (body.type === 'group') {
        clauses.push({ clause, group, index, field });
        walk(body, field);
        return;
      }
      const placed: PlacedAtom = { clause, group, index, field, atom: body };
      clauses.push(placed);
      atoms.push(placed);
    });
  };
  walk(top, defaultField);
  const hasSyntaxErrors = diagnostics.length > 0;
  return {
    text,
    root,
    hasSyntaxErrors,
    foreignQuotes: foreignQuotes(text),
    top,
    groups,
    clauses,
    atoms,
    report,
    suggestionsLeft: suggestionsMax,
  };
}
