import type { Clock } from '../clock.ts';
import { type Handler, sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import type { NextSnowflake } from '../snowflake.ts';
import type { XApps } from '../x/access.ts';
import { xPlans } from '../x/app.ts';
import type { Archive } from '../x/archive.ts';
import { buildPost } from '../x/post.ts';
import { publishPosts } from '../x/publish.ts';
import { badRequest, buildAll, findByToken, readBody, readOneOrMany } from './answers.ts';

export interface XControlDeps {
  readonly apps: XApps;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly nextId: NextSnowflake;
}

export function xControlRoutes(deps: XControlDeps): Route[] {
  return [
    ['POST', '/sandbox/x/posts', injectPosts(deps)],
    ['GET', '/sandbox/x/state', readState(deps)],
    ['GET', '/sandbox/x/log', readLog(deps)],
    ['POST', '/sandbox/x/plan', changePlan(deps)],
  ];
}

function injectPosts(deps: XControlDeps): Handler {
  const { clock, nextId } = deps;
  return async (exchange) => {
    const inputs = await readOneOrMany(exchange, 'posts');
    const posts = buildAll(inputs, (input) => buildPost(input, { nowMs: clock.nowMs, nextId }));
    const publications = publishPosts(posts, deps);
    sendJson(exchange.response, 200, {
      posts: posts.map(({ id }, index) => {
        const matches = publications[index] ?? [];
        return {
          id,
          matching_rules: matches.map(({ token, ruleIds }) => ({ token, rule_ids: ruleIds })),
          delivered: matches.length > 0 && matches.every(({ delivered }) => delivered),
        };
      }),
    });
  };
}

function readState({ apps }: XControlDeps): Handler {
  return (exchange) => {
    const app = findByToken(exchange, apps.values());
    const open = app.connections.open();
    sendJson(exchange.response, 200, {
      token: app.token,
      plan: app.plan,
      rules: app.rules.list().map(({ id, value, tag }) => ({ id, value, tag })),
      connections: { open: open.length, stalled: open.filter((one) => one.pipe.isStalled()).length },
      rule_calls: { list: app.limits.list.count(), change: app.limits.change.count() },
      searches: app.limits.search.count(),
      connections_total: app.connections.total(),
      counters: app.journal.counts(),
      metering: app.meter.report(),
      undelivered: app.journal.undelivered(),
      unconfirmed: app.journal.unconfirmed(),
    });
  };
}

const logLimitMax = 10_000;

function readLog({ apps }: XControlDeps): Handler {
  return (exchange) => {
    const app = findByToken(exchange, apps.values());
    const after = Number(exchange.query.get('after') ?? 0);
    const limit = Number(exchange.query.get('limit') ?? logLimitMax);
    if (!Number.isInteger(after) || !Number.isInteger(limit))
      throw badRequest('after and limit are whole numbers.');
    const entries = app.journal.after(after, Math.min(limit, logLimitMax));
    sendJson(exchange.response, 200, {
      posts: entries.map(({ seq, id, text, author, createdAt, ruleIds, delivered }) => ({
        seq,
        id,
        text,
        author,
        created_at: createdAt,
        rule_ids: ruleIds,
        delivered,
      })),
      next_after: entries.at(-1)?.seq ?? after,
    });
  };
}

function changePlan({ apps }: XControlDeps): Handler {
  return async (exchange) => {
    const app = findByToken(exchange, apps.values());
    const wanted = (await readBody(exchange))['plan'];
    const plan = xPlans.find((known) => known === wanted);
    if (plan === undefined) throw badRequest(`plan is one of ${xPlans.join(', ')}.`);
    app.plan = plan;
    sendJson(exchange.response, 200, { token: app.token, plan });
  };
}
