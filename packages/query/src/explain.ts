import type { LeafNode, Node } from './ast.ts';
import { spend, tooMuchWork, withBudget, withBudgetOf } from './budget.ts';
import type { Evidence, Explanation, Flip, LeafVerdict, State, Verdict } from './language.ts';

/** The language's verdict on one leaf for the item. */
export type LeafVerdictOf = (leaf: LeafNode) => LeafVerdict;

const flipLeavesMax = 256;
const stepsPerLeaf = 60;
const stepsPerEvidence = 150;
const stepsPerNode = 2;

const notAfforded: LeafVerdict = {
  state: 'unknown',
  confidence: 'approximate',
  evidence: [],
  why: tooMuchWork,
};

/** The rule's verdict on the item that `readItem` prepares. */
export function evaluateRule(root: Node, readItem: () => LeafVerdictOf): Verdict {
  return withBudgetOf(
    root,
    () => evaluateTree(root, affordable(readItem())),
    () => notAfforded,
  );
}

export function explainRule(root: Node, readItem: () => LeafVerdictOf): Explanation {
  return withBudgetOf(
    root,
    () => explainTree(root, affordable(readItem())),
    () => explainTree(root, () => notAfforded),
  );
}

/** A leaf that the budget of the evaluation does not suffice for is unknown; the others may still decide the rule. */
function affordable(verdictOf: LeafVerdictOf): LeafVerdictOf {
  const charged = (leaf: LeafNode): LeafVerdict => {
    spend(stepsPerLeaf);
    return verdictOf(leaf);
  };
  return (leaf) =>
    withBudget(
      () => charged(leaf),
      () => notAfforded,
    );
}

/**
 * Kleene logic over the tree. A verdict has the best confidence that suffices for it: an `and` with one exact miss is
 * an exact miss, whatever the confidence of the other leaves.
 */
function evaluateTree(node: Node, verdictOf: (leaf: LeafNode) => Verdict): Verdict {
  switch (node.kind) {
    case 'leaf':
      return verdictOf(node);
    case 'never':
      return { state: 'no_match', confidence: 'exact' };
    case 'not':
      return negate(evaluateTree(node.child, verdictOf));
    case 'and':
      return combine(node.children, verdictOf, 'no_match');
    case 'or':
      return combine(node.children, verdictOf, 'match');
  }
}

function negate(verdict: Verdict): Verdict {
  if (verdict.state === 'unknown') return verdict;
  return { state: verdict.state === 'match' ? 'no_match' : 'match', confidence: verdict.confidence };
}

/** `decisive` is the state of one child that settles the node: a miss for `and`, a match for `or`. */
function combine(
  children: readonly Node[],
  verdictOf: (leaf: LeafNode) => Verdict,
  decisive: State,
): Verdict {
  let settled = false;
  let unknown = false;
  let approximate = false;
  for (const child of children) {
    const verdict = evaluateTree(child, verdictOf);
    if (verdict.state === decisive) {
      if (verdict.confidence === 'exact') return verdict;
      settled = true;
    } else if (verdict.state === 'unknown') {
      unknown = true;
    } else if (verdict.confidence === 'approximate') {
      approximate = true;
    }
  }
  if (settled) return { state: decisive, confidence: 'approximate' };
  if (unknown) return { state: 'unknown', confidence: 'approximate' };
  return {
    state: decisive === 'match' ? 'no_match' : 'match',
    confidence: approximate ? 'approximate' : 'exact',
  };
}

function explainTree(root: Node, leafVerdict: LeafVerdictOf): Explanation {
  const known = knowLeaves(root, leafVerdict);
  const verdictOf = (leaf: LeafNode): LeafVerdict => known.get(leaf)?.verdict ?? leafVerdict(leaf);
  const verdict = evaluateTree(root, verdictOf);
  const distinctLeaves = [...new Set(known.values())];
  const shown = verdict.state === 'no_match' ? 'no_match' : 'match';
  const witness = affordedList(() => distinct(witnessOf(root, shown, verdictOf)));
  const flips = affordedList(() => flipsOf(root, known, distinctLeaves, verdict.state));
  return {
    ...verdict,
    witness,
    breakers: verdict.state === 'match' ? flips.filter(({ change }) => change === 'appear') : [],
    nearMisses: verdict.state === 'match' ? [] : flips,
    undecided: distinctLeaves
      .filter(({ verdict: { state } }) => state === 'unknown')
      .map((leaf) => flipOf(leaf, 'appear')),
  };
}

/** Empty when the budget is spent before the list is complete. */
function affordedList<Entry>(make: () => Entry[]): Entry[] {
  return withBudget(make, () => []);
}

interface KnownLeaf {
  readonly leaf: LeafNode;
  readonly verdict: LeafVerdict;
}

const tests = new WeakMap<LeafNode, string>();

function testOf(leaf: LeafNode): string {
  const known = tests.get(leaf) ?? `${leaf.field}\0${JSON.stringify(leaf.test)}`;
  tests.set(leaf, known);
  return known;
}

/** Equal leaves share one entry, because they have the same verdict and change together. */
function knowLeaves(root: Node, leafVerdict: LeafVerdictOf): Map<LeafNode, KnownLeaf> {
  const byTest = new Map<string, KnownLeaf>();
  const byLeaf = new Map<LeafNode, KnownLeaf>();
  for (const leaf of leavesOf(root)) {
    const key = testOf(leaf);
    const known = byTest.get(key) ?? { leaf, verdict: leafVerdict(leaf) };
    byTest.set(key, known);
    byLeaf.set(leaf, known);
  }
  return byLeaf;
}

export function leavesOf(root: Node): LeafNode[] {
  const leaves: LeafNode[] = [];
  const walk = (node: Node): void => {
    if (node.kind === 'leaf') leaves.push(node);
    else if (node.kind === 'not') walk(node.child);
    else if (node.kind !== 'never') for (const child of node.children) walk(child);
  };
  walk(root);
  return leaves;
}

/**
 * The cheapest set of evidence that keeps `node` in `state`. One child is enough where one child decides (a true
 * branch of an `or`, a false one of an `and`); all are needed otherwise. A negation asks its child for the
 * opposite, so the witness of a true `-lang:de` is the language that the item does have. What the item does not decide is
 * taken to be in `state`: a delivered item did match, and one undecided clause must not hide the evidence of the others.
 */
function witnessOf(node: Node, state: State, verdictOf: LeafVerdictOf): readonly Evidence[] {
  switch (node.kind) {
    case 'leaf':
      return leafWitness(node, state, verdictOf(node));
    case 'never':
      return [];
    case 'not':
      return witnessOf(node.child, state === 'match' ? 'no_match' : 'match', verdictOf);
    case 'and':
    case 'or': {
      const oneDecides = (node.kind === 'or') === (state === 'match');
      if (!oneDecides) return node.children.flatMap((child) => witnessOf(child, state, verdictOf));
      return cheapest(node.children, state, verdictOf);
    }
  }
}

function leafWitness(leaf: LeafNode, state: State, verdict: LeafVerdict): Evidence[] {
  // What an undecided leaf shows speaks for it, so it is no reason for its negation.
  if (verdict.state === 'unknown' && state === 'no_match') return [];
  return verdict.evidence.map((evidence) => {
    spend(stepsPerEvidence);
    return { ...evidence, rule: leaf.span, field: leaf.field };
  });
}

function cheapest(children: readonly Node[], state: State, verdictOf: LeafVerdictOf): readonly Evidence[] {
  let best: readonly Evidence[] = [];
  let bestCost = Number.POSITIVE_INFINITY;
  for (const child of children) {
    spend(stepsPerNode * sizeOf(child));
    const verdict = evaluateTree(child, verdictOf);
    if (verdict.state !== state && verdict.state !== 'unknown') continue;
    const witness = witnessOf(child, state, verdictOf);
    const cost = costOf(verdict, witness.length);
    if (cost < bestCost) [best, bestCost] = [witness, cost];
  }
  return best;
}

/** Above the cost of any evidence that an evaluation can afford. */
const undecidedCost = 1_000_000;

/** A decided child comes before an undecided one; one of which the item shows nothing explains nothing. */
function costOf({ state, confidence }: Verdict, evidenceCount: number): number {
  const cost = evidenceCount * 2 + (confidence === 'exact' ? 0 : 1);
  if (state !== 'unknown') return cost;
  return evidenceCount === 0 ? Number.POSITIVE_INFINITY : undecidedCost + cost;
}

function distinct(evidence: readonly Evidence[]): Evidence[] {
  const seen = new Set<string>();
  return evidence.filter(({ path, range, rule }) => {
    const key = `${path}\0${range?.join('-')}\0${rule.join('-')}`;
    return seen.size < seen.add(key).size;
  });
}

/** Flips each distinct leaf alone and evaluates the tree again. Slow, but only done on demand. */
function flipsOf(
  root: Node,
  known: ReadonlyMap<LeafNode, KnownLeaf>,
  leaves: readonly KnownLeaf[],
  from: State,
): Flip[] {
  if (leaves.length > flipLeavesMax) return [];
  const to = from === 'match' ? 'no_match' : 'match';
  const steps = stepsPerNode * sizeOf(root);
  return leaves.flatMap((flipped) => {
    const states: readonly State[] =
      flipped.verdict.state === 'unknown' ? ['match', 'no_match'] : [negate(flipped.verdict).state];
    return states.flatMap((state) => {
      spend(steps);
      const changed = evaluateTree(root, (leaf) => {
        const other = known.get(leaf);
        if (other === flipped) return { state, confidence: 'exact' };
        return other?.verdict ?? { state: 'unknown', confidence: 'approximate' };
      });
      return changed.state === to ? [flipOf(flipped, state === 'match' ? 'appear' : 'disappear')] : [];
    });
  });
}

/** The number of nodes. */
function sizeOf(node: Node): number {
  if (node.kind === 'leaf' || node.kind === 'never') return 1;
  if (node.kind === 'not') return 1 + sizeOf(node.child);
  return node.children.reduce((size, child) => size + sizeOf(child), 1);
}

function flipOf({ leaf, verdict }: KnownLeaf, change: Flip['change']): Flip {
  const seen = verdict.evidence[0]?.value;
  const fallback = seen === undefined ? 'not found in the item' : `the item has ${JSON.stringify(seen)}`;
  return { rule: leaf.span, field: leaf.field, change, why: verdict.why ?? fallback };
}
