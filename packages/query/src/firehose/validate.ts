import { type Diagnostic, inTextOrder } from '../diagnostics.ts';
import { fullWidth } from '../full-width.ts';
import type { ReadRule } from './parse.ts';
import type { Atom, Group } from './surface.ts';
import { defaultField } from './tables.ts';
import { domainValue, exactUrl } from './validate/addresses.ts';
import { breadth } from './validate/breadth.ts';
import { publishDate, recentPlacement, recentWindow } from './validate/dates.ts';
import { deadClause } from './validate/dead-clause.ts';
import { implicitOperator } from './validate/implicit-operator.ts';
import { languageCode, pageCategory, pageType } from './validate/label-values.ts';
import { foreignOperator, lowercaseOperator, onlyNegations, orNot } from './validate/operator-words.ts';
import {
  fuzzyDistance,
  gluedRegex,
  impossibleRegex,
  matchAll,
  patternUse,
  quotedWildcard,
  regexDialect,
} from './validate/patterns.ts';
import { comparison, domainRating } from './validate/ranges.ts';
import {
  type AtomRule,
  foreignQuotes,
  type GroupRule,
  type PlacedAtom,
  type PlacedClause,
  type View,
  type ViewRule,
} from './validate/rule.ts';
import { unknownField } from './validate/unknown-field.ts';
import {
  boost,
  droppedSigns,
  emptyPhrase,
  escapedSpace,
  filterReference,
  ignoredClause,
  loneSign,
  smartQuotes,
  stopWords,
  unquotedTokens,
} from './validate/values.ts';
import { leafCount, nothingLeft, qualityFilter } from './validate/whole-rule.ts';

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
