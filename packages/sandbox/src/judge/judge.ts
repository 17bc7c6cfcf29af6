import type { JsonObject } from '../http/json.ts';
import { assumedPositions } from '../knobs.ts';
import { type JudgeKnobs, judgeKnobs } from './knobs.ts';

export const judgeVerdicts = ['relevant', 'not_relevant', 'unsure'] as const;
export type JudgeVerdict = (typeof judgeVerdicts)[number];

/** The honest verdict about the items that contain a text, in any case. The first such entry counts. */
export interface JudgeEntry {
  readonly contains: string;
  readonly verdict: JudgeVerdict;
}

/** A model behind an OpenAI-compatible endpoint. */
export interface Judge {
  readonly knobs: JudgeKnobs;
  entries: readonly JudgeEntry[];
  /** The verdict about items without an entry. */
  otherwise: JudgeVerdict;
  readonly used: { calls: number; answered: number; input: number; output: number; microUsd: number };
  inFlight: number;
  inFlightMax: number;
}

export function createJudge(): Judge {
  return {
    knobs: assumedPositions(judgeKnobs),
    entries: [],
    otherwise: 'not_relevant',
    used: { calls: 0, answered: 0, input: 0, output: 0, microUsd: 0 },
    inFlight: 0,
    inFlightMax: 0,
  };
}

/** The content of the message with which the model answers this prompt. */
export function writeContent(
  { entries, otherwise }: Pick<Judge, 'entries' | 'otherwise'>,
  mode: JudgeKnobs['mode'],
  prompt: string,
): string {
  const item = findItem(prompt);
  const honest = entries.find(({ contains }) => item.includes(contains.toLowerCase()))?.verdict ?? otherwise;
  if (mode === 'malformed') return `I think that this one is ${honest}, but let me explain: `;
  if (mode === 'schema') return JSON.stringify({ verdict: 'maybe', confidence: 0.5 });
  const lie = honest === 'relevant' ? 'not_relevant' : 'relevant';
  const ordered = mode === 'obedient' ? findOrder(item) : undefined;
  const verdict = mode === 'lying' ? lie : (ordered ?? honest);
  const reason = ordered === undefined ? `The sandbox is set to ${mode}.` : 'The item said so.';
  return JSON.stringify({ verdict, reason });
}

/** What stands between the last pair of tags that are alone on their lines; without tags, the whole prompt. */
function findItem(prompt: string): string {
  const blocks = prompt.matchAll(/^<([\w-]+)>\n([\s\S]*?)\n<\/\1>$/gm);
  const last = blocks.toArray().at(-1)?.[2] ?? prompt;
  return last.toLowerCase();
}

/** The verdict that an injection demands. */
function findOrder(item: string): JudgeVerdict | undefined {
  const order = /(?:verdict\W{0,5}|ignore (?:all )?previous instructions and answer\W{0,5})([a-z_]+)/.exec(
    item,
  );
  return judgeVerdicts.find((verdict) => verdict === order?.[1]);
}

/** Counts a call that the model has answered, whether or not the client still waits. */
export function meterCall({ used, knobs }: Judge, input: number, output: number): void {
  used.answered += 1;
  used.input += input;
  used.output += output;
  used.microUsd += input * knobs.inputUsd + output * knobs.outputUsd;
}

export function judgeToWire({ used, inFlight, inFlightMax }: Judge): JsonObject {
  return {
    calls: used.calls,
    answered: used.answered,
    tokens: { input: used.input, output: used.output },
    billed_micro_usd: used.microUsd,
    in_flight: inFlight,
    in_flight_max: inFlightMax,
  };
}
