import type { Screen } from '../output/screen.ts';
import { renderTable } from '../output/table.ts';
import { version } from '../version.ts';
import { type AssumptionNumber, assumptionNumbers, assumptions } from './assumptions.ts';
import { redacted } from './redacted.ts';
import type { StepId } from './register.ts';
import type { Observation, Verdict } from './step.ts';

export interface StepOutcome {
  readonly step: StepId;
  readonly outcome: 'done' | 'left_out' | 'failed' | 'interrupted';
  /** Missing if the step was done. */
  readonly why?: string;
}

export interface ReportRow {
  readonly number: AssumptionNumber;
  readonly question: string;
  readonly expected: string;
  readonly observed: string;
  readonly verdict: Verdict;
}

/** The report file. It has no secrets, ids, texts or times of platforms. */
export interface Report {
  readonly earshot_doctor: string;
  /** The date, because platforms change. */
  readonly day: string;
  readonly plan: string;
  readonly steps: readonly StepOutcome[];
  readonly assumptions: readonly ReportRow[];
  /** Rules of this run that could not be deleted. */
  readonly left_behind: number;
}

interface Findings {
  readonly outcomes: readonly StepOutcome[];
  readonly observations: readonly Observation[];
  readonly leftBehind: number;
  readonly plan: string;
}

export function createReport({ outcomes, observations, leftBehind, plan }: Findings): Report {
  const steps = new Map(outcomes.map((outcome) => [outcome.step, outcome]));
  const rows = assumptionNumbers.map((number): ReportRow => {
    const { step, question, expected } = assumptions[number];
    const found = observations.find((one) => one.number === number);
    if (found !== undefined) {
      const { verdict, observed } = found;
      return { number, question, expected, observed: redacted(observed), verdict };
    }
    const why = whyNot(step, steps.get(step));
    return { number, question, expected, observed: redacted(why), verdict: 'not_seen' };
  });
  return {
    earshot_doctor: version,
    day: new Date().toISOString().slice(0, 10),
    plan,
    steps: outcomes.map(({ why, ...outcome }) => ({
      ...outcome,
      ...(why !== undefined && { why: redacted(why) }),
    })),
    assumptions: rows,
    left_behind: leftBehind,
  };
}

function whyNot(step: StepId, outcome: StepOutcome | undefined): string {
  if (outcome === undefined) return `${step} did not run`;
  return outcome.why === undefined ? `${step} ended before` : `${step}: ${outcome.why}`;
}

export const hasDifference = ({ assumptions: rows }: Report) =>
  rows.some(({ verdict }) => verdict === 'differs');

const cellMax = 60;

/** The observations for people, and the number of assumptions that were not checked. */
export function reportText({ assumptions: rows, steps }: Report, screen: Pick<Screen, 'paint'>): string {
  const seen = rows.filter(({ verdict }) => verdict !== 'not_seen');
  const cut = (text: string) => (text.length > cellMax ? `${text.slice(0, cellMax - 1)}…` : text);
  const table = renderTable(
    ['NUMBER', 'VERDICT', 'QUESTION', 'EXPECTED', 'OBSERVED'],
    seen.map(({ number, verdict, question, expected, observed }) => [
      number,
      verdict === 'differs' ? 'DIFFERS' : verdict,
      cut(question),
      cut(expected),
      observed,
    ]),
    screen,
  );
  const count = (wanted: Verdict) => rows.filter(({ verdict }) => verdict === wanted).length;
  const missing = steps.flatMap(({ step, outcome, why }) =>
    why === undefined ? [] : [`${step} ${outcome.replace('_', ' ')}: ${why}`],
  );
  const total = `Agree: ${count('agrees')}. Differ: ${count('differs')}. Not seen: ${count('not_seen')}.`;
  return [table, '', ...missing, total].join('\n');
}
