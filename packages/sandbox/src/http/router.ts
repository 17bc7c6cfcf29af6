import type { Exchange, Handler } from './exchange.ts';

/** `[method, path, handler]`; a segment `:name` matches any value. The first matching route is used. */
export type Route<Deps> = readonly [method: string, path: string, handler: Handler<Deps>];

export function findRoute<Deps>(
  routes: readonly Route<Deps>[],
  exchange: Exchange,
): Handler<Deps> | undefined {
  const segments = exchange.path.split('/');
  for (const [method, path, handler] of routes) {
    if (method !== exchange.method) continue;
    const params = matchPath(path.split('/'), segments);
    if (params !== undefined) return (request, deps) => handler({ ...request, params }, deps);
  }
  return undefined;
}

function matchPath(pattern: string[], segments: string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index] ?? '';
    if (expected.startsWith(':')) params[expected.slice(1)] = actual;
    else if (expected !== actual) return undefined;
  }
  return params;
}
