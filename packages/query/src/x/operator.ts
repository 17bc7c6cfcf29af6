import type { Tier } from '../language.ts';

/**
 * The operators of X's filtered stream (x.md §10.2). Parser, validator, printer, evaluator and syntax guide all
 * read these rows, so an operator is described once.
 */
export type ValueKind =
  | 'words'
  | 'tag'
  | 'text'
  | 'handle'
  | 'id'
  | 'lang'
  | 'country'
  | 'count'
  | 'integer'
  | 'sample'
  | 'fraction'
  | 'circle'
  | 'box'
  | 'context'
  | 'sentence'
  | 'none';

export interface Operator {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly value: ValueKind;
  /** `unclear`: X's page leaves the type blank, so a rule of only such clauses may be refused. */
  readonly standalone: 'yes' | 'no' | 'unclear';
  readonly negation?: 'never' | 'always';
  readonly tier?: Tier;
  /** How the value is written, for the guide. */
  readonly form: string;
  readonly meaning: string;
  readonly example: string;
}
