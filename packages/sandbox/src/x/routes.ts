import type { Deps } from '../deps.ts';
import type { Route } from '../http/router.ts';
import { createJob, downloadResults, readJob, uploadIds } from './compliance-api.ts';
import { killConnections, killEndpointConnections, listConnections } from './connections-api.ts';
import { countAll, countRecent } from './counts-api.ts';
import { changeRules, countRules, listRules } from './rules-api.ts';
import { searchAll, searchRecent } from './search-api.ts';
import { openStream } from './stream-api.ts';
import { readUsage } from './usage-api.ts';

export const xRoutes: readonly Route<Deps>[] = [
  ['GET', '/2/tweets/search/stream', openStream],
  ['GET', '/2/tweets/search/stream/rules', listRules],
  ['POST', '/2/tweets/search/stream/rules', changeRules],
  ['GET', '/2/tweets/search/stream/rules/counts', countRules],
  ['GET', '/2/tweets/search/recent', searchRecent],
  ['GET', '/2/tweets/search/all', searchAll],
  ['GET', '/2/tweets/counts/recent', countRecent],
  ['GET', '/2/tweets/counts/all', countAll],
  ['GET', '/2/usage/tweets', readUsage],
  ['POST', '/2/compliance/jobs', createJob],
  ['GET', '/2/compliance/jobs/:id', readJob],
  ['PUT', '/storage/compliance/:id/submission', uploadIds],
  ['GET', '/storage/compliance/:id/results', downloadResults],
  ['GET', '/2/connections', listConnections],
  ['DELETE', '/2/connections', killConnections],
  ['DELETE', '/2/connections/:endpoint', killEndpointConnections],
];
