import type { Tier } from '../language.ts';
import type { Operator } from './operator.ts';
import { contentOperators } from './operators-content.ts';
import { narrowingOperators } from './operators-narrowing.ts';

export const operators: readonly Operator[] = [...contentOperators, ...narrowingOperators];

const operatorByName: ReadonlyMap<string, Operator> = new Map(
  operators.flatMap((operator) =>
    [operator.name, ...(operator.aliases ?? [])].map((name) => [name, operator] as const),
  ),
);

/** By canonical name or alias, lower case. */
export function findOperator(name: string): Operator | undefined {
  return operatorByName.get(name);
}

/** Whether a clause may begin with this name and a colon. */
export function isOperatorName(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'is' || lower === 'has' || operatorByName.has(lower);
}

/** Words and tags are written without an operator name. */
export function isImplied({ name }: Operator): boolean {
  return name === 'keyword' || name === 'hashtag' || name === 'cashtag' || name === 'mention';
}

export const lengthMax = { standard: 1024, enterprise: 2048, embedding: 2048 } as const satisfies Record<
  Tier,
  number
>;

/** Longer texts are not parsed. */
export const parseLengthMax = 4096;
export const depthMax = 32;
export const slopMax = 6;
