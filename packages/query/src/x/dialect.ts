import type { Tier } from '../language.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Operator } from './operator.ts';

/** The rules of one platform in X's grammar: its operators, its limits, and what messages say about it. */
export interface Dialect {
  /** What messages call the platform. */
  readonly name: string;
  readonly operators: readonly Operator[];
  /** By canonical name or alias, lower case. */
  readonly findOperator: (name: string) => Operator | undefined;
  readonly lengthMax: Readonly<Record<Tier, number>>;
  /** Operators of other products, each with a hint. */
  readonly elsewhere: ReadonlyMap<string, Elsewhere>;
  /** Operators that the platform may have: it decides. */
  readonly undocumented: ReadonlySet<string>;
  /** What has the first always has the second. */
  readonly implied: ReadonlyMap<string, readonly string[]>;
  /** What a post has one of, by operator. */
  readonly single: Readonly<Record<string, string>>;
  /** The canonical spelling of the value of `lang:`. */
  readonly languageCode: (value: string) => string;
  readonly texts: Readonly<
    Record<'stream' | 'everything' | 'oneWord' | 'stopWords' | 'negatedBranch' | 'negatedGroup', string>
  >;
}

export function createDialect(given: Omit<Dialect, 'findOperator'>): Dialect {
  const byName = new Map(
    given.operators.flatMap((operator) =>
      [operator.name, ...(operator.aliases ?? [])].map((name) => [name, operator] as const),
    ),
  );
  return { ...given, findOperator: (name) => byName.get(name) };
}

/** Whether a clause may begin with this name and a colon. */
export function isOperatorName(name: string, { findOperator }: Dialect): boolean {
  const lower = name.toLowerCase();
  return lower === 'is' || lower === 'has' || findOperator(lower) !== undefined;
}

/** Words and tags are written without an operator name. */
export function isImplied({ name }: Operator): boolean {
  return name === 'keyword' || name === 'hashtag' || name === 'cashtag' || name === 'mention';
}

/** Longer texts are not parsed. */
export const parseLengthMax = 4096;
export const depthMax = 32;
export const slopMax = 6;
