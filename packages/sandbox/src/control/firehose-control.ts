import type { Deps } from '../deps.ts';
import { matchMicroUsd, toMicroUsd } from '../firehose/organization.ts';
import { buildPage } from '../firehose/page.ts';
import { publishPage } from '../firehose/publish.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { badRequest, buildAll, findByToken, readBody, readOneOrMany } from './answers.ts';

export const firehoseControlRoutes: readonly Route<Deps>[] = [
  ['POST', '/sandbox/firehose/pages', injectPages],
  ['GET', '/sandbox/firehose/state', readState],
  ['POST', '/sandbox/firehose/balance', changeBalance],
  ['POST', '/sandbox/firehose/age', ageBuffer],
];

async function injectPages(exchange: Exchange, { organization, clock }: Deps): Promise<void> {
  const inputs = await readOneOrMany(exchange, 'pages');
  const pages = buildAll(inputs, (input) => buildPage(input, clock.nowMs()));
  sendJson(exchange.response, 200, {
    pages: pages.map((page) => ({
      url: page.url,
      events: publishPage(page, organization).map(({ token, eventId, queryIds }) => ({
        tap: token,
        event_id: eventId,
        query_ids: queryIds,
      })),
    })),
  });
}

function readState(exchange: Exchange, { organization }: Deps): void {
  const tap = findByToken(exchange, organization.taps.values());
  const connections = [...tap.connections];
  sendJson(exchange.response, 200, {
    token: tap.token,
    tap_id: tap.id,
    status: tap.status,
    rules: Array.from(tap.rules.values(), ({ matcher: _matcher, ...rule }) => rule),
    connections: {
      open: connections.length,
      stalled: connections.filter((one) => one.pipe.isStalled()).length,
    },
    rule_calls: tap.limits.rules.count(),
    balance_usd: organization.balanceMicroUsd / 1_000_000,
    events_in_buffer: tap.buffer.size(),
    metering: {
      events_delivered: tap.meter.eventsDelivered(),
      matches_charged: tap.meter.pagesCharged(),
      bill_usd: (tap.meter.pagesCharged() * matchMicroUsd) / 1_000_000,
    },
  });
}

async function changeBalance(exchange: Exchange, { organization }: Deps): Promise<void> {
  const usd = (await readBody(exchange))['usd'];
  if (typeof usd !== 'number') throw badRequest('usd is a number.');
  organization.balanceMicroUsd = toMicroUsd(usd);
  sendJson(exchange.response, 200, { usd });
}

/** Makes the buffered events older, so that a test can see a long outage without waiting. */
async function ageBuffer(exchange: Exchange, { organization }: Deps): Promise<void> {
  const tap = findByToken(exchange, organization.taps.values());
  const hours = (await readBody(exchange))['hours'];
  if (typeof hours !== 'number' || hours <= 0) throw badRequest('hours is a number above 0.');
  tap.buffer.age(hours * 3_600_000);
  sendJson(exchange.response, 200, { hours, events_in_buffer: tap.buffer.size() });
}
