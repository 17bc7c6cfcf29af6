import type { Route } from '../http/router.ts';
import type { XDeps } from './access.ts';
import { killConnections, killEndpointConnections, listConnections } from './connections-api.ts';
import { streamOrRecovery } from './recovery-api.ts';
import { changeRules, countRules, listRules } from './rules-api.ts';
import { searchRecent } from './search-api.ts';
import { openStream } from './stream-api.ts';

export function xRoutes(deps: XDeps): Route[] {
  return [
    ['GET', '/2/tweets/search/stream', streamOrRecovery(openStream(deps), deps)],
    ['GET', '/2/tweets/search/stream/rules', listRules(deps)],
    ['POST', '/2/tweets/search/stream/rules', changeRules(deps)],
    ['GET', '/2/tweets/search/stream/rules/counts', countRules(deps)],
    ['GET', '/2/tweets/search/recent', searchRecent(deps)],
    ['GET', '/2/connections', listConnections(deps)],
    ['DELETE', '/2/connections', killConnections(deps)],
    ['DELETE', '/2/connections/:endpoint', killEndpointConnections(deps)],
  ];
}
