import type { Route } from '../http/router.ts';
import { addRule, changeRule, listRules, readRule, removeRule, validateRule } from './rules-api.ts';
import { type FirehoseStreamDeps, openStream } from './stream-api.ts';
import type { TapDeps } from './tap.ts';
import { addTap, changeTap, listTaps, readTap, removeTap } from './taps-api.ts';

export function firehoseRoutes(deps: FirehoseStreamDeps & TapDeps): Route[] {
  const { organization } = deps;
  return [
    ['GET', '/v1/taps', listTaps(organization)],
    ['POST', '/v1/taps', addTap(organization, deps)],
    ['GET', '/v1/taps/:id', readTap(organization)],
    ['PUT', '/v1/taps/:id', changeTap(organization)],
    ['DELETE', '/v1/taps/:id', removeTap(organization)],
    ['GET', '/v1/rules', listRules(deps)],
    ['POST', '/v1/rules', addRule(deps)],
    ['GET', '/v1/rules/:id', readRule(deps)],
    ['PUT', '/v1/rules/:id', changeRule(deps)],
    ['DELETE', '/v1/rules/:id', removeRule(deps)],
    ['POST', '/v1/validate', validateRule(organization, false)],
    ['POST', '/v1/validate/public', validateRule(organization, true)],
    ['GET', '/v1/stream', openStream(deps)],
  ];
}
