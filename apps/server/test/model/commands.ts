import type { Platform } from '@earshot/contract';
import * as fc from 'fast-check';

/** The events of a history, for an installation with two X apps and two Firehose tokens. */
export type Command =
  | { readonly kind: 'create'; readonly platforms: readonly Platform[]; readonly word: string }
  /** Several at once, so that they share one call. */
  | { readonly kind: 'create_many'; readonly words: readonly string[] }
  | { readonly kind: 'update'; readonly which: number; readonly word: string }
  | { readonly kind: 'pause'; readonly which: number }
  | { readonly kind: 'resume'; readonly which: number }
  | { readonly kind: 'delete'; readonly which: number }
  /** Deleted, and at the same time created again by another caller. */
  | { readonly kind: 'replace'; readonly which: number }
  /** The process crashes: no release, no answer, no record; another one takes over. */
  | { readonly kind: 'crash'; readonly source: number; readonly midCall: boolean }
  /** Another node has the lease while the old holder does not know it yet. */
  | { readonly kind: 'lose_lease'; readonly source: number }
  /** A holder is paused before a change, and continues when another node has its lease and has done the work. */
  | { readonly kind: 'freeze'; readonly platform: Platform; readonly word: string; readonly undo: boolean }
  | { readonly kind: 'drain'; readonly source: number }
  | { readonly kind: 'undrain' }
  | {
      readonly kind: 'fault';
      readonly fault: FaultOrder;
      readonly platform: Platform;
      readonly count: number;
    }
  | { readonly kind: 'vanish'; readonly platform: Platform; readonly word: string }
  | { readonly kind: 'delete_by_hand'; readonly source: number; readonly which: number }
  | { readonly kind: 'add_by_hand'; readonly source: number; readonly word: string }
  /** Time passes; without the regular comparison, the registrars restart. */
  | { readonly kind: 'reconcile' };

export interface History {
  /** Whether registrars compare regularly, or only when they have a reason. */
  readonly regular: boolean;
  readonly commands: readonly Command[];
}

export type FaultOrder = Readonly<Record<string, string | number>> & { readonly kind: string };

/** Longer than a registrar waits for an answer (mortal-registrar.ts): the work is done, and the registrar does not learn it. */
const tooLateMs = 300;

const word = fc.constantFrom('ash', 'birch', 'cedar', 'damson', 'elm', 'fir');
const platform = fc.constantFrom<Platform>('x', 'firehose');
const which = fc.nat(20);
const source = fc.nat(3);

const faults = fc.constantFrom<FaultOrder>(
  { kind: 'rules_status', status: 429 },
  { kind: 'rules_status', status: 503 },
  { kind: 'rules_status', status: 500, method: 'POST' },
  { kind: 'rules_status', status: 503, method: 'GET' },
  { kind: 'rules_lost_answer' },
  { kind: 'rules_lost_answer' },
  { kind: 'rules_delay', ms: 15 },
  { kind: 'rules_delay', ms: tooLateMs },
  { kind: 'rule_refused', contains: 'a' },
  { kind: 'rule_refused', contains: 'elm' },
);

/** One kind of command, and its frequency among the others. */
function often<Kind extends Command['kind'], Fields extends object>(
  weight: number,
  kind: Kind,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) {
  const arbitrary = fc.record({ kind: fc.constant(kind), ...fields });
  return { weight, arbitrary: arbitrary as fc.Arbitrary<{ kind: Kind } & Fields> };
}

const command: fc.Arbitrary<Command> = fc.oneof(
  often(6, 'create', {
    platforms: fc.constantFrom<readonly Platform[]>(['x'], ['firehose'], ['x', 'firehose']),
    word,
  }),
  often(2, 'create_many', { words: fc.uniqueArray(word, { minLength: 2, maxLength: 5 }) }),
  often(3, 'update', { which, word }),
  often(1, 'pause', { which }),
  often(1, 'resume', { which }),
  often(2, 'delete', { which }),
  often(2, 'replace', { which }),
  often(2, 'crash', { source, midCall: fc.boolean() }),
  often(1, 'lose_lease', { source }),
  often(1, 'freeze', { platform, word, undo: fc.boolean() }),
  often(2, 'drain', { source }),
  often(1, 'undrain', {}),
  often(5, 'fault', { fault: faults, platform, count: fc.integer({ min: 1, max: 2 }) }),
  often(1, 'vanish', { platform, word }),
  often(1, 'delete_by_hand', { source, which }),
  often(2, 'add_by_hand', { source, word }),
  often(2, 'reconcile', {}),
);

export const history: fc.Arbitrary<History> = fc.record({
  regular: fc.boolean(),
  commands: fc.array(command, { minLength: 5, maxLength: 15 }),
});
