import type { Route } from '../http/router.ts';
import type { FirehoseDeps } from './access.ts';
import { addRule, changeRule, listRules, readRule, removeRule, validateRule } from './rules-api.ts';
import { openStream } from './stream-api.ts';
import { addTap, changeTap, listTaps, readTap, removeTap } from './taps-api.ts';

export function firehoseRoutes(deps: FirehoseDeps): Route[] {
  return [
    ['GET', '/v1/taps', listTaps(deps)],
    ['POST', '/v1/taps', addTap(deps)],
    ['GET', '/v1/taps/:id', readTap(deps)],
    ['PUT', '/v1/taps/:id', changeTap(deps)],
    ['DELETE', '/v1/taps/:id', removeTap(deps)],
    ['GET', '/v1/rules', listRules(deps)],
    ['POST', '/v1/rules', addRule(deps)],
    ['GET', '/v1/rules/:id', readRule(deps)],
    ['PUT', '/v1/rules/:id', changeRule(deps)],
    ['DELETE', '/v1/rules/:id', removeRule(deps)],
    ['POST', '/v1/validate', validateRule(deps, false)],
    ['POST', '/v1/validate/public', validateRule(deps, true)],
    ['GET', '/v1/stream', openStream(deps)],
  ];
}
