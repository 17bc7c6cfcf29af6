import type { Matcher } from '@earshot/query';
import type { Compiled } from '../match/compiled.ts';
import type { XKnobs } from './knobs.ts';
import type { XPost } from './post.ts';

export interface XRule {
  readonly id: string;
  readonly value: string;
  readonly tag: string | undefined;
  readonly matcher: Matcher<XPost>;
}
export interface RuleInput {
  readonly value: string;
  readonly tag: string | undefined;
}

export type RuleVerdict =
  | { kind: 'created'; rule: XRule }
  /** Not created, because another rule of the batch is invalid. */
  | { kind: 'valid' }
  | { kind: 'duplicate'; value: string; id: string }
  | { kind: 'invalid'; value: string; details: string[] };

export interface AddOptions {
  readonly dryRun: boolean;
  /** The message with which an armed fault refuses the rule; undefined when none does. */
  readonly refuse: (value: string) => string | undefined;
}

export interface RuleSetOptions {
  readonly compile: (value: string) => Compiled<XPost>;
  readonly nextId: () => string;
  readonly cap: number;
  readonly knobs: Pick<XKnobs, 'batchPolicy' | 'values'>;
  readonly onChange: (change: { added: XRule[]; removed: XRule[] }) => void;
}

export type RuleSet = ReturnType<typeof createRuleSet>;

/** The rules of one app: unique by exact value, immutable, ordered by id (x.md §3). */
export function createRuleSet(options: RuleSetOptions) {
  const rules = new Map<string, XRule>();

  const check = (
    { value: given, tag }: RuleInput,
    known: Map<string, string>,
    refuse: AddOptions['refuse'],
  ): RuleVerdict => {
    const value = options.knobs.values === 'one_space' ? given.replaceAll(/ +/g, ' ') : given;
    const duplicateOf = known.get(value);
    if (duplicateOf !== undefined) return { kind: 'duplicate', value, id: duplicateOf };
    const refusal = refuse(value);
    if (refusal !== undefined) return { kind: 'invalid', value, details: [refusal] };
    const compiled = options.compile(value);
    if (!compiled.ok) return { kind: 'invalid', value, details: compiled.details };
    const rule: XRule = { id: options.nextId(), value, tag, matcher: compiled.matcher };
    known.set(value, rule.id);
    return { kind: 'created', rule };
  };

  return {
    list: () => [...rules.values()],
    add(inputs: readonly RuleInput[], { dryRun, refuse }: AddOptions): RuleVerdict[] | 'cap_exceeded' {
      const known = new Map([...rules.values()].map((rule) => [rule.value, rule.id]));
      const checked = inputs.map((input) => check(input, known, refuse));
      const verdicts =
        options.knobs.batchPolicy === 'all_or_nothing' ? createNoneIfInvalid(checked) : checked;
      const created = verdicts.flatMap((verdict) => (verdict.kind === 'created' ? [verdict.rule] : []));
      if (rules.size + created.length > options.cap) return 'cap_exceeded';
      if (!dryRun && created.length > 0) {
        for (const rule of created) rules.set(rule.id, rule);
        options.onChange({ added: created, removed: [] });
      }
      return verdicts;
    },
    /** Returns how many rules it removed, or would remove in a dry run. */
    remove(isWanted: (rule: XRule) => boolean, dryRun: boolean): number {
      const removed = [...rules.values()].filter(isWanted);
      if (!dryRun && removed.length > 0) {
        for (const rule of removed) rules.delete(rule.id);
        options.onChange({ added: [], removed });
      }
      return removed.length;
    },
  };
}

function createNoneIfInvalid(verdicts: RuleVerdict[]): RuleVerdict[] {
  if (verdicts.every(({ kind }) => kind !== 'invalid')) return verdicts;
  return verdicts.map((verdict) => (verdict.kind === 'created' ? { kind: 'valid' } : verdict));
}
