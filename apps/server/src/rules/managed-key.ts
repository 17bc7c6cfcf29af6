import type { Rule } from '@earshot/contract';
import { Failure } from '../runtime/failure.ts';

export type ManagedBy = Rule['managed_by'];

export function managedKeyTaken({ set, key }: NonNullable<ManagedBy>): Failure {
  return new Failure(
    'already_exists',
    `The set "${set}" has a rule "${key}" already, or one is being created: list your rules to see it.`,
  );
}
