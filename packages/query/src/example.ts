import type { Node, Span } from './ast.ts';
import { exampleBlueskyPost } from './bluesky/example-post.ts';
import { blueskyLanguage } from './bluesky/language.ts';
import { tooMuchWork, withBudget } from './budget.ts';
import type { ExamplePayload, ReadItem } from './example-payload.ts';
import { readExamplePage } from './firehose/evaluate.ts';
import { firehoseLanguage } from './firehose/language.ts';
import type { Explanation, Language, Platform, State } from './language.ts';
import { examplePost } from './x/example-post.ts';
import { xLanguage } from './x/language.ts';

export interface RuleExample {
  readonly platform: Platform;
  readonly payload: ExamplePayload;
}

export type Expectation = 'must_match' | 'must_not_match';

export type RuleExamples = Readonly<Record<Expectation, readonly RuleExample[]>>;

export interface JudgedExample {
  readonly expectation: Expectation;
  readonly index: number;
  readonly platform: Platform;
  /** `misplaced`: the rule is not on the platform of the example. `undecided`: the example lacks what the rule asks for. */
  readonly outcome: 'holds' | 'fails' | 'undecided' | 'misplaced';
  /** The clause that makes the example fail or leaves it undecided; null when it passes or is misplaced. */
  readonly clause: Span | null;
  /** What the clause does, as a message. */
  readonly message: string;
}

/**
 * Evaluates every example of a rule with the evaluator that also explains matches. Examples of an invalid value are
 * omitted, because its tree is only the parser's guess.
 */
export function judgeExamples(
  overrides: Readonly<Partial<Record<Platform, string | undefined>>>,
  examples: RuleExamples,
  invalid: ReadonlySet<Platform> = new Set(),
): JudgedExample[] {
  const roots = new Map<Platform, Node | null>();
  const rootOf = (platform: Platform, value: string): Node | null => {
    const known = roots.get(platform);
    if (known !== undefined) return known;
    const { root } = kinds[platform].language.parse(value);
    roots.set(platform, root);
    return root;
  };
  return (['must_match', 'must_not_match'] as const).flatMap((expectation) =>
    examples[expectation].flatMap(({ platform, payload }, index) => {
      if (invalid.has(platform)) return [];
      const value = overrides[platform];
      const root = value === undefined ? null : rootOf(platform, value);
      const verdict =
        value === undefined || root === null
          ? misplaced(platform)
          : judgeWithin({ platform, value, root, payload, expectation });
      return [{ expectation, index, platform, ...verdict }];
    }),
  );
}

export type Judgement = Pick<JudgedExample, 'outcome' | 'clause' | 'message'>;

function misplaced(platform: Platform): Judgement {
  return { outcome: 'misplaced', clause: null, message: `The rule is not on "${platform}".` };
}

interface Question {
  readonly platform: Platform;
  readonly value: string;
  readonly root: Node;
  readonly payload: ExamplePayload;
  readonly expectation: Expectation;
}

/** One budget for the verdict on an example and for the search for the clause that decides it. */
function judgeWithin(question: Question): Judgement {
  return withBudget(
    () => judge(question),
    () => notDecided,
  );
}

/** The result for an example that is too expensive to evaluate. */
export const notDecided: Judgement = {
  outcome: 'undecided',
  clause: null,
  message: `Not decided by the example: ${tooMuchWork}.`,
};

function judge({ platform, value, root, payload, expectation }: Question): Judgement {
  const item = kinds[platform].read(payload);
  const { state } = item.evaluate(root);
  if (state === (expectation === 'must_match' ? 'match' : 'no_match'))
    return { outcome: 'holds', clause: null, message: 'Holds.' };
  const { clause, decisive } = decisiveClause(root, (node) => item.evaluate(node).state);
  const text = JSON.stringify(shortened(value.slice(clause.span[0], clause.span[1])));
  const why = whyOf(item.explain(decisive));
  if (state === 'unknown')
    return {
      outcome: 'undecided',
      clause: clause.span,
      message: `Not decided by the example: ${text}, because ${why}.`,
    };
  const wanted = expectation === 'must_match' ? 'Must match' : 'Must not match';
  return { outcome: 'fails', clause: clause.span, message: `${wanted}, but ${text} decides: ${why}.` };
}

interface Kind {
  readonly language: Language;
  readonly read: (payload: ExamplePayload) => ReadItem;
}

const kinds: Readonly<Record<Platform, Kind>> = {
  x: { language: xLanguage, read: postReader(xLanguage, examplePost) },
  firehose: { language: firehoseLanguage, read: readExamplePage },
  bluesky: { language: blueskyLanguage, read: postReader(blueskyLanguage, exampleBlueskyPost) },
};

function postReader(language: Language, examplePayload: (example: ExamplePayload) => object): Kind['read'] {
  return (payload) => {
    const post = payload.raw ?? examplePayload(payload);
    return {
      evaluate: (node) => language.evaluate(node, post),
      explain: (node) => language.explain(node, post),
    };
  };
}

interface Decision {
  /** The leaf with the negation around it, if there is one. */
  readonly clause: Node;
  readonly decisive: Node;
}

/** Follows the verdict from the root down to one clause that causes it, preferably one that is not negated. */
function decisiveClause(node: Node, stateOf: (node: Node) => State): Decision {
  switch (node.kind) {
    case 'leaf':
    case 'never':
      return { clause: node, decisive: node };
    case 'not': {
      const { decisive } = decisiveClause(node.child, stateOf);
      return { clause: node, decisive };
    }
    case 'and':
    case 'or': {
      const state = stateOf(node);
      const same = node.children.filter((child) => stateOf(child) === state);
      const child = same.find(({ kind }) => kind !== 'not') ?? same[0];
      return child === undefined ? { clause: node, decisive: node } : decisiveClause(child, stateOf);
    }
  }
}

function whyOf({ state, witness, nearMisses, undecided }: Explanation): string {
  if (state === 'unknown') return undecided[0]?.why ?? 'the example does not decide it';
  if (state === 'no_match') return nearMisses[0]?.why ?? 'this can match nothing';
  const [seen] = witness;
  return seen === undefined
    ? 'the item satisfies it'
    : `the item has ${JSON.stringify(shortened(seen.value))}`;
}

const shownLengthMax = 80;

function shortened(text: string): string {
  return text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax - 1).toWellFormed()}…`;
}
