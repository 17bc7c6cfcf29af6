import type { Deps } from '../deps.ts';
import type { Route } from '../http/router.ts';
import {
  addRule,
  changeRule,
  listRules,
  readRule,
  removeRule,
  validateOwnRule,
  validateRule,
} from './rules-api.ts';
import { openStream } from './stream-api.ts';
import { addTap, changeTap, listTaps, readTap, removeTap } from './taps-api.ts';

export const firehoseRoutes: readonly Route<Deps>[] = [
  ['GET', '/v1/taps', listTaps],
  ['POST', '/v1/taps', addTap],
  ['GET', '/v1/taps/:id', readTap],
  ['PUT', '/v1/taps/:id', changeTap],
  ['DELETE', '/v1/taps/:id', removeTap],
  ['GET', '/v1/rules', listRules],
  ['POST', '/v1/rules', addRule],
  ['GET', '/v1/rules/:id', readRule],
  ['PUT', '/v1/rules/:id', changeRule],
  ['DELETE', '/v1/rules/:id', removeRule],
  ['POST', '/v1/validate', validateOwnRule],
  ['POST', '/v1/validate/public', validateRule],
  ['GET', '/v1/stream', openStream],
];
