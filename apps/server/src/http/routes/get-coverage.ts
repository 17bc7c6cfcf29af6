import type { createGetCoverage } from '../../coverage/get-coverage.ts';
import type { Route } from '../route.ts';

export function getCoverageRoute(getCoverage: ReturnType<typeof createGetCoverage>): Route<'GetCoverage'> {
  return { id: 'GetCoverage', handle: getCoverage };
}
