import { blueskyScope } from '../bluesky/frame-writer.ts';
import type { Deps } from '../deps.ts';
import {
  type Fault,
  type Faults,
  faultKinds,
  isFaultKind,
  isInScope,
  platforms,
  textParam,
} from '../faults.ts';
import { dropRule } from '../firehose/tap.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendJson } from '../http/exchange.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import type { Route } from '../http/router.ts';
import { applyToBlueskyStream, applyToFirehoseStream, applyToXStream } from '../stream-faults.ts';
import { badRequest, readOneOrMany } from './answers.ts';

export const faultsControlRoutes: readonly Route<Deps>[] = [
  ['POST', '/sandbox/faults', armFaults],
  ['GET', '/sandbox/faults', listFaults],
  ['DELETE', '/sandbox/faults', clearFaults],
];

async function armFaults(exchange: Exchange, deps: Deps): Promise<void> {
  const requests = (await readOneOrMany(exchange, 'faults')).map(readFault);
  const armed = requests.map((request) => {
    const fault = deps.faults.arm(request);
    if (faultKinds[fault.kind] === 'now') fireNow(fault, deps);
    return fault;
  });
  sendJson(exchange.response, 201, { faults: armed.map(toWire) });
}

function listFaults({ response }: Exchange, { faults }: Deps): void {
  sendJson(response, 200, { faults: faults.list().map(toWire) });
}

function clearFaults({ response }: Exchange, { faults }: Deps): void {
  faults.clear();
  sendJson(response, 200, { faults: [] });
}

function readFault(given: unknown): Parameters<Faults['arm']>[0] {
  if (!isJsonObject(given)) throw badRequest('A fault is an object.');
  const { kind, platform: platformName, token, count = 1, ...params } = given;
  if (!isFaultKind(kind)) throw badRequest(`kind is one of ${Object.keys(faultKinds).join(', ')}.`);
  const platform = platforms.find((one) => one === platformName);
  if (platformName !== undefined && platform === undefined)
    throw badRequest(`platform is one of ${platforms.join(', ')}.`);
  if (token !== undefined && typeof token !== 'string') throw badRequest('token is a string.');
  if (count !== null && (typeof count !== 'number' || count < 1)) {
    throw badRequest('count is at least 1, or null for no limit.');
  }
  const remaining = faultKinds[kind] === 'now' ? 0 : count;
  return { kind, platform, token, remaining, params };
}

function toWire({ id, kind, platform, token, remaining, fired, params }: Fault): JsonObject {
  return { id, kind, platform, token, remaining, fired, ...params };
}

/** Acts on everything in scope and counts every stream or rule that it hits. */
function fireNow(fault: Fault, { apps, organization, bluesky }: Deps): void {
  const appsHit = [...apps.values()].filter(({ token }) => isInScope(fault, { platform: 'x', token }));
  const tapsHit = [...organization.taps.values()].filter(({ token }) =>
    isInScope(fault, { platform: 'firehose', token }),
  );
  if (fault.kind === 'rules_vanish') {
    const part = textParam(fault.params, 'contains', '');
    for (const app of appsHit) fault.fired += app.rules.remove(({ value }) => value.includes(part), false);
    for (const tap of tapsHit) {
      const gone = [...tap.rules.values()].filter(({ value }) => value.includes(part));
      for (const { id } of gone) dropRule(tap, id);
      fault.fired += gone.length;
    }
    return;
  }
  const isBlueskyHit = isInScope(fault, blueskyScope);
  if (fault.kind === 'cursor_too_old') {
    if (isBlueskyHit) bluesky.log.raiseFloor();
    fault.fired += isBlueskyHit ? 1 : 0;
    return;
  }
  for (const app of appsHit) {
    for (const connection of app.connections.open()) {
      applyToXStream(fault, app, connection);
      fault.fired += 1;
    }
  }
  for (const connection of tapsHit.flatMap((tap) => [...tap.connections])) {
    applyToFirehoseStream(fault, connection);
    fault.fired += 1;
  }
  for (const connection of isBlueskyHit ? bluesky.connections : []) {
    applyToBlueskyStream(fault, connection);
    fault.fired += 1;
  }
}
