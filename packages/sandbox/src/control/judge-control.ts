import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { isJsonObject } from '../http/json.ts';
import type { Route } from '../http/router.ts';
import { judgeToWire, judgeVerdicts } from '../judge/judge.ts';
import { judgeKnobs } from '../judge/knobs.ts';
import { knobsToWire, turnKnobs } from '../knobs.ts';
import { badRequest, buildAll, readBody } from './answers.ts';

export const judgeControlRoutes: readonly Route<Deps>[] = [
  ['GET', '/sandbox/judge/state', readState],
  ['POST', '/sandbox/judge/knobs', turn],
  ['POST', '/sandbox/judge/verdicts', setVerdicts],
];

function readState({ response }: Exchange, { judge }: Deps): void {
  sendJson(response, 200, { knobs: knobsToWire(judge.knobs), ...judgeToWire(judge) });
}

async function turn(exchange: Exchange, deps: Deps): Promise<void> {
  const problem = turnKnobs(judgeKnobs, deps.judge.knobs, await readBody(exchange));
  if (problem !== undefined) throw badRequest(problem);
  readState(exchange, deps);
}

/** Replaces all entries. */
async function setVerdicts(exchange: Exchange, deps: Deps): Promise<void> {
  const { entries = [], otherwise = 'not_relevant' } = await readBody(exchange);
  if (!Array.isArray(entries)) throw badRequest('entries is a list.');
  const known = buildAll(entries, (entry) => {
    const { contains, verdict } = isJsonObject(entry) ? entry : {};
    const found = judgeVerdicts.find((one) => one === verdict);
    if (typeof contains !== 'string' || found === undefined)
      return `has contains, and a verdict of ${judgeVerdicts.join(', ')}.`;
    return { contains, verdict: found };
  });
  const verdict = judgeVerdicts.find((one) => one === otherwise);
  if (verdict === undefined) throw badRequest(`otherwise is one of ${judgeVerdicts.join(', ')}.`);
  deps.judge.entries = known;
  deps.judge.otherwise = verdict;
  readState(exchange, deps);
}
