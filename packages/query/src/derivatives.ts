import { spend } from './budget.ts';
import type { RegexSyntax } from './pattern-syntax.ts';

/**
 * Regular expressions by derivatives: the state after a character is the expression that the rest of the text must
 * match. Equal states are interned, so their transitions can be cached.
 */
export interface State {
  readonly id: number;
  readonly shape: Shape;
  /** Whether the text may end here. */
  readonly nullable: boolean;
  /** Next states by character class, computed on demand. */
  readonly next: (State | undefined)[];
}

type Shape =
  | { readonly op: 'nothing' }
  | { readonly op: 'empty' }
  | { readonly op: 'set'; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly op: 'cat'; readonly head: State; readonly tail: State }
  | { readonly op: 'any'; readonly of: readonly State[] }
  | { readonly op: 'all'; readonly of: readonly State[] }
  | { readonly op: 'not'; readonly of: State }
  | { readonly op: 'repeat'; readonly of: State; readonly min: number; readonly max: number };

interface Algebra {
  readonly known: Map<string, State>;
  readonly nothing: State;
  readonly empty: State;
  readonly everything: State;
}

export function createAlgebra(): Algebra {
  const nothing: State = { id: 0, shape: { op: 'nothing' }, nullable: false, next: [] };
  const empty: State = { id: 1, shape: { op: 'empty' }, nullable: true, next: [] };
  const everything: State = { id: 2, shape: { op: 'not', of: nothing }, nullable: true, next: [] };
  const known = new Map([
    ['nothing', nothing],
    ['empty', empty],
    [`not ${nothing.id}`, everything],
  ]);
  return { known, nothing, empty, everything };
}

/** Interning builds a key and looks it up; joining puts a member into a map, sorts it and adds it to a key. */
const stepsPerState = 20;
const stepsPerMember = 20;

export function build(algebra: Algebra, syntax: RegexSyntax): State {
  switch (syntax.op) {
    case 'set': {
      if (syntax.ranges.length === 0) return algebra.nothing;
      return intern(algebra, `set ${syntax.ranges.join(' ')}`, { op: 'set', ranges: syntax.ranges }, false);
    }
    case 'cat':
      return syntax.of.reduceRight((tail, part) => cat(algebra, build(algebra, part), tail), algebra.empty);
    case 'any':
    case 'all':
      return join(
        algebra,
        syntax.op,
        syntax.of.map((part) => build(algebra, part)),
      );
    case 'not':
      return not(algebra, build(algebra, syntax.of));
    case 'repeat':
      return repeat(algebra, build(algebra, syntax.of), syntax.min, syntax.max);
  }
}

/** The expression that the rest must match once `codePoint` has been read. */
export function derive(algebra: Algebra, { shape }: State, codePoint: number): State {
  spend(2);
  switch (shape.op) {
    case 'nothing':
    case 'empty':
      return algebra.nothing;
    case 'set': {
      spend(shape.ranges.length);
      const inside = shape.ranges.some(([low, high]) => low <= codePoint && codePoint <= high);
      return inside ? algebra.empty : algebra.nothing;
    }
    case 'cat': {
      const first = cat(algebra, derive(algebra, shape.head, codePoint), shape.tail);
      if (!shape.head.nullable) return first;
      return join(algebra, 'any', [first, derive(algebra, shape.tail, codePoint)]);
    }
    case 'any':
    case 'all':
      return join(
        algebra,
        shape.op,
        shape.of.map((state) => derive(algebra, state, codePoint)),
      );
    case 'not':
      return not(algebra, derive(algebra, shape.of, codePoint));
    case 'repeat': {
      const rest = repeat(algebra, shape.of, Math.max(shape.min - 1, 0), shape.max - 1);
      return cat(algebra, derive(algebra, shape.of, codePoint), rest);
    }
  }
}

/** A new state is kept with its key, so the steps of an evaluation bound its memory too. */
function intern(algebra: Algebra, key: string, shape: Shape, nullable: boolean): State {
  spend(stepsPerState + key.length);
  const found = algebra.known.get(key);
  if (found !== undefined) return found;
  const state: State = { id: algebra.known.size, shape, nullable, next: [] };
  algebra.known.set(key, state);
  return state;
}

function not(algebra: Algebra, of: State): State {
  return of.shape.op === 'not'
    ? of.shape.of
    : intern(algebra, `not ${of.id}`, { op: 'not', of }, !of.nullable);
}

/** Both `any` and `all` have an absorbing and a neutral element; members are sorted and unique. */
function join(algebra: Algebra, op: 'any' | 'all', states: readonly State[]): State {
  const [absorbing, neutral] =
    op === 'any' ? [algebra.everything, algebra.nothing] : [algebra.nothing, algebra.everything];
  const members = new Map<number, State>();
  for (const joined of states) {
    const flat = joined.shape.op === op ? joined.shape.of : [joined];
    spend(stepsPerMember * flat.length);
    for (const state of flat) {
      if (state === absorbing) return absorbing;
      if (state !== neutral) members.set(state.id, state);
    }
  }
  const of = [...members.values()].toSorted((a, b) => a.id - b.id);
  if (of.length < 2) return of[0] ?? neutral;
  const nullable = op === 'any' ? of.some((s) => s.nullable) : of.every((s) => s.nullable);
  return intern(algebra, `${op} ${of.map((s) => s.id).join()}`, { op, of }, nullable);
}

/**
 * Distributes a union over what follows, so that every state is a set of positions in the expression. That bounds
 * the number of its members.
 */
function cat(algebra: Algebra, head: State, tail: State): State {
  if (head === algebra.nothing || tail === algebra.nothing) return algebra.nothing;
  if (head === algebra.empty) return tail;
  if (tail === algebra.empty) return head;
  spend(1);
  if (head.shape.op === 'cat') return cat(algebra, head.shape.head, cat(algebra, head.shape.tail, tail));
  if (head.shape.op === 'any') {
    return join(
      algebra,
      'any',
      head.shape.of.map((state) => cat(algebra, state, tail)),
    );
  }
  return intern(
    algebra,
    `cat ${head.id} ${tail.id}`,
    { op: 'cat', head, tail },
    head.nullable && tail.nullable,
  );
}

function repeat(algebra: Algebra, of: State, min: number, max: number): State {
  if (min > max) return algebra.nothing;
  if (max === 0 || of === algebra.empty) return algebra.empty;
  if (min === 1 && max === 1) return of;
  if (of === algebra.nothing) return min === 0 ? algebra.empty : algebra.nothing;
  const key = `repeat ${of.id} ${min} ${max}`;
  return intern(algebra, key, { op: 'repeat', of, min, max }, min === 0 || of.nullable);
}
