import { describe, expect, test } from 'vitest';
import { type AlertState, advance, coolDownMs, initialState } from './alert-state.ts';
import type { Evidence, Judgement } from './detect.ts';

const hourMs = 3_600_000;
const now = 1_000 * hourMs;
const evidence = (got: number, window: Evidence['window'] = '1h'): Evidence => ({
  window,
  expected: 10,
  got,
  p: 1e-6,
});
const usual: Judgement = { spike: null, drop: null, isCalm: true, isActive: true };
const inputs = {
  spike: { ...usual, spike: evidence(50), isCalm: false },
  double: { ...usual, spike: evidence(100), isCalm: false },
  high: { ...usual, isCalm: false },
  drop: { ...usual, drop: evidence(0, '6h'), isActive: false },
  quiet: { ...usual, isActive: false },
  usual,
  unknown: null,
} satisfies Record<string, Judgement | null>;
type Input = keyof typeof inputs;

const spiking: AlertState = {
  ...initialState,
  kind: 'spiking',
  sinceMs: now - hourMs,
  spike: { atMs: now - hourMs, times: 5 },
};
const silent: AlertState = {
  ...initialState,
  kind: 'silent',
  sinceMs: now - hourMs,
  drop: { atMs: now - hourMs, times: 0 },
};
const states = {
  ok: initialState,
  cooling: { ...spiking, kind: 'ok', sinceMs: null },
  coolingDrop: { ...silent, kind: 'ok', sinceMs: null, activeSinceMs: now - 7 * hourMs },
  active: { ...initialState, activeSinceMs: now - 2 * hourMs },
  spiking,
  silent,
} satisfies Record<string, AlertState>;
type State = keyof typeof states;

/** The next kind, and the report. A missing cell does not compile. */
const transitions: Record<State, Record<Input, string>> = {
  ok: {
    spike: 'spiking, raise spike',
    double: 'spiking, raise spike',
    high: 'ok',
    drop: 'silent, raise drop',
    quiet: 'ok',
    usual: 'ok',
    unknown: 'ok',
  },
  cooling: {
    spike: 'ok',
    double: 'spiking, raise spike',
    high: 'ok',
    drop: 'silent, raise drop',
    quiet: 'ok',
    usual: 'ok',
    unknown: 'ok',
  },
  coolingDrop: {
    spike: 'spiking, raise spike',
    double: 'spiking, raise spike',
    high: 'ok',
    drop: 'ok',
    quiet: 'ok',
    usual: 'ok',
    unknown: 'ok',
  },
  // The window of 6 hours still has the silence that ended two hours ago.
  active: {
    spike: 'spiking, raise spike',
    double: 'spiking, raise spike',
    high: 'ok',
    drop: 'ok',
    quiet: 'ok',
    usual: 'ok',
    unknown: 'ok',
  },
  spiking: {
    spike: 'spiking',
    double: 'spiking, escalate spike',
    high: 'spiking',
    drop: 'ok, recover spike',
    quiet: 'ok, recover spike',
    usual: 'ok, recover spike',
    unknown: 'spiking',
  },
  silent: {
    spike: 'ok, recover drop',
    double: 'ok, recover drop',
    high: 'ok, recover drop',
    drop: 'silent',
    quiet: 'silent',
    usual: 'ok, recover drop',
    unknown: 'silent',
  },
};

function shown(state: AlertState, input: Judgement | null): string {
  const next = advance(state, input, now);
  if (next.step === null) return next.state.kind;
  const verb = next.step.kind === 'raise' && next.step.isEscalated ? 'escalate' : next.step.kind;
  return `${next.state.kind}, ${verb} ${next.step.type}`;
}

const cells = Object.entries(transitions).flatMap(([state, row]) =>
  Object.entries(row).map(([input, expected]) => [state as State, input as Input, expected] as const),
);

test.each(cells)('%s, then %s: %s', (state, input, expected) => {
  expect(shown(states[state], inputs[input])).toBe(expected);
});

describe('a spike', () => {
  test('is raised again six hours after its last notice', () => {
    const { state } = advance(states.cooling, inputs.spike, now - hourMs + coolDownMs - 1);
    expect(state.kind).toBe('ok');
    expect(advance(state, inputs.spike, now - hourMs + coolDownMs).step?.kind).toBe('raise');
  });

  test('that doubles is reported with its beginning, and must double again', () => {
    const escalated = advance(spiking, inputs.double, now);
    expect(escalated.step).toMatchObject({ kind: 'raise', isEscalated: true, sinceMs: spiking.sinceMs });
    expect(advance(escalated.state, inputs.double, now + hourMs).step).toBeNull();
  });

  test('began with its window', () => {
    expect(advance(initialState, inputs.spike, now).step).toMatchObject({ sinceMs: now - hourMs });
    expect(advance(initialState, inputs.drop, now).step).toMatchObject({ sinceMs: now - 6 * hourMs });
  });
});

test('whatever is judged, alerts and recoveries alternate, apart from escalations', () => {
  let seed = 20_261_119;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const names = Object.keys(inputs) as Input[];
  let [state, open, raised, recovered]: [AlertState, string | null, number, number] = [
    initialState,
    null,
    0,
    0,
  ];
  for (let nth = 0; nth < 20_000; nth++) {
    const next = advance(state, inputs[names[random(names.length)] ?? 'usual'], now + nth * (hourMs / 4));
    const { step } = next;
    if (step?.kind === 'raise') {
      expect(step.isEscalated ? step.type : null, `seed 20261119, step ${nth}`).toBe(open);
      open = step.type;
      raised += step.isEscalated ? 0 : 1;
    } else if (step) {
      expect(step.type, `seed 20261119, step ${nth}`).toBe(open);
      open = null;
      recovered += 1;
    }
    expect(next.state.kind === 'ok', `seed 20261119, step ${nth}`).toBe(open === null);
    expect(next.state.sinceMs === null).toBe(open === null);
    state = next.state;
  }
  expect(raised).toBeGreaterThan(100);
  expect(raised - recovered).toBe(open === null ? 0 : 1);
});
