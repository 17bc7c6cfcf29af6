import type { Deps } from '../deps.ts';
import { firehoseKnobs } from '../firehose/knobs.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { knobsToWire, turnKnobs } from '../knobs.ts';
import { xKnobs } from '../x/knobs.ts';
import { badRequest, findByToken, readBody } from './answers.ts';

export const knobsControlRoutes: readonly Route<Deps>[] = [
  ['GET', '/sandbox/x/knobs', readX],
  ['POST', '/sandbox/x/knobs', turnX],
  ['GET', '/sandbox/firehose/knobs', readFirehose],
  ['POST', '/sandbox/firehose/knobs', turnFirehose],
];

function readX(exchange: Exchange, { apps }: Deps): void {
  const { knobs } = findByToken(exchange, apps.values());
  sendJson(exchange.response, 200, { knobs: knobsToWire(knobs) });
}

async function turnX(exchange: Exchange, deps: Deps): Promise<void> {
  const { knobs } = findByToken(exchange, deps.apps.values());
  const problem = turnKnobs(xKnobs, knobs, await readBody(exchange));
  if (problem !== undefined) throw badRequest(problem);
  readX(exchange, deps);
}

function readFirehose(exchange: Exchange, { organization }: Deps): void {
  sendJson(exchange.response, 200, { knobs: knobsToWire(organization.knobs) });
}

async function turnFirehose(exchange: Exchange, deps: Deps): Promise<void> {
  const problem = turnKnobs(firehoseKnobs, deps.organization.knobs, await readBody(exchange));
  if (problem !== undefined) throw badRequest(problem);
  readFirehose(exchange, deps);
}
