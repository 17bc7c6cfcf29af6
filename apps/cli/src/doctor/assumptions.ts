import { blueskyAssumptions } from './bluesky-assumptions.ts';
import { firehoseAssumptions } from './firehose-assumptions.ts';
import type { Assumption } from './register.ts';
import { xAssumptions } from './x-assumptions.ts';

const all = { ...xAssumptions, ...firehoseAssumptions, ...blueskyAssumptions };
export type AssumptionNumber = keyof typeof all;

export const assumptions: Readonly<Record<AssumptionNumber, Assumption>> = all;
/** In the order of the documents. */
export const assumptionNumbers = Object.keys(all) as AssumptionNumber[];
