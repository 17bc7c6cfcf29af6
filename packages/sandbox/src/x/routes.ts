import type { Route } from '../http/router.ts';
import { killConnections, killEndpointConnections, listConnections } from './connections-api.ts';
import { streamOrRecovery } from './recovery-api.ts';
import { changeRules, countRules, listRules } from './rules-api.ts';
import { searchRecent, type XSearchDeps } from './search-api.ts';
import { openStream, type XStreamDeps } from './stream-api.ts';

export function xRoutes(deps: XStreamDeps & XSearchDeps): Route[] {
  const { apps, faults, clock } = deps;
  const rules = { apps, faults, nowMs: clock.nowMs };
  return [
    ['GET', '/2/tweets/search/stream', streamOrRecovery(openStream(deps), deps)],
    ['GET', '/2/tweets/search/stream/rules', listRules(rules)],
    ['POST', '/2/tweets/search/stream/rules', changeRules(rules)],
    ['GET', '/2/tweets/search/stream/rules/counts', countRules(rules)],
    ['GET', '/2/tweets/search/recent', searchRecent(deps)],
    ['GET', '/2/connections', listConnections(apps)],
    ['DELETE', '/2/connections', killConnections(apps)],
    ['DELETE', '/2/connections/:endpoint', killEndpointConnections(apps)],
  ];
}
