import type { Platform } from '@earshot/contract';
import * as fc from 'fast-check';

/** What can happen to an installation with two X apps and one tap. */
export type Command =
  | { readonly kind: 'create'; readonly platforms: readonly Platform[]; readonly word: string }
  /** Several at once, so that they travel in one call. */
  | { readonly kind: 'create_many'; readonly words: readonly string[] }
  | { readonly kind: 'delete'; readonly which: number }
  /** The process dies: no release, no answer, no record; another one takes over. */
  | { readonly kind: 'crash'; readonly source: number; readonly midCall: boolean }
  /** A pause that was too long: somebody else has the lease while the old holder still believes in its own. */
  | { readonly kind: 'lose_lease'; readonly source: number }
  | {
      readonly kind: 'fault';
      readonly fault: FaultOrder;
      readonly platform: Platform;
      readonly count: number;
    }
  | { readonly kind: 'vanish'; readonly platform: Platform; readonly word: string }
  | { readonly kind: 'delete_by_hand'; readonly source: number; readonly which: number }
  | { readonly kind: 'add_by_hand'; readonly source: number; readonly word: string }
  | { readonly kind: 'reconcile' };

export type FaultOrder = Readonly<Record<string, string | number>> & { readonly kind: string };

const words = ['ash', 'birch', 'cedar', 'damson', 'elm', 'fir'];
const word = fc.constantFrom(...words);
const platform = fc.constantFrom<Platform>('x', 'firehose');
const which = fc.nat(20);
const source = fc.nat(2);

const faults = fc.constantFrom<FaultOrder>(
  { kind: 'rules_status', status: 429 },
  { kind: 'rules_status', status: 503 },
  { kind: 'rules_status', status: 500, method: 'POST' },
  { kind: 'rules_status', status: 503, method: 'GET' },
  { kind: 'rules_lost_answer' },
  { kind: 'rules_delay', ms: 15 },
  { kind: 'rule_refused', contains: 'a' },
  { kind: 'rule_refused', contains: 'elm' },
);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      platforms: fc.constantFrom<Platform[]>(['x'], ['firehose'], ['x', 'firehose']),
      word,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('create_many' as const),
      words: fc.uniqueArray(word, { minLength: 2, maxLength: 5 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), source, midCall: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose_lease' as const), source }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: faults,
      platform,
      count: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('vanish' as const), platform, word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete_by_hand' as const), source, which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add_by_hand' as const), source, word }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reconcile' as const) }) },
);

export const history = fc.array(command, { minLength: 3, maxLength: 14 });
