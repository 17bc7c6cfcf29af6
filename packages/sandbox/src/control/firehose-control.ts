import type { Clock } from '../clock.ts';
import { matchUsd, type Organization } from '../firehose/organization.ts';
import { buildPage } from '../firehose/page.ts';
import { publishPage } from '../firehose/publish.ts';
import { type Handler, sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { badRequest, buildAll, findByToken, readBody, readOneOrMany } from './answers.ts';

export interface FirehoseControlDeps {
  readonly organization: Organization;
  readonly clock: Clock;
}

export function firehoseControlRoutes(deps: FirehoseControlDeps): Route[] {
  return [
    ['POST', '/sandbox/firehose/pages', injectPages(deps)],
    ['GET', '/sandbox/firehose/state', readState(deps)],
    ['POST', '/sandbox/firehose/balance', changeBalance(deps)],
    ['POST', '/sandbox/firehose/age', ageBuffer(deps)],
  ];
}

function injectPages({ organization, clock }: FirehoseControlDeps): Handler {
  return async (exchange) => {
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
  };
}

function readState({ organization }: FirehoseControlDeps): Handler {
  return (exchange) => {
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
      balance_usd: Math.round(organization.balanceUsd * 1_000) / 1_000,
      events_in_buffer: tap.buffer.size(),
      metering: {
        events_delivered: tap.eventsDelivered,
        matches_charged: tap.charged.size,
        bill_usd: Math.round(tap.charged.size * matchUsd * 1_000) / 1_000,
      },
    });
  };
}

function changeBalance({ organization }: FirehoseControlDeps): Handler {
  return async (exchange) => {
    const usd = (await readBody(exchange))['usd'];
    if (typeof usd !== 'number') throw badRequest('usd is a number.');
    organization.balanceUsd = usd;
    sendJson(exchange.response, 200, { usd });
  };
}

/** Makes the buffered events older, so that a test can see a long outage without waiting. */
function ageBuffer({ organization }: FirehoseControlDeps): Handler {
  return async (exchange) => {
    const tap = findByToken(exchange, organization.taps.values());
    const hours = (await readBody(exchange))['hours'];
    if (typeof hours !== 'number' || hours <= 0) throw badRequest('hours is a number above 0.');
    tap.buffer.age(hours * 3_600_000);
    sendJson(exchange.response, 200, { hours, events_in_buffer: tap.buffer.size() });
  };
}
