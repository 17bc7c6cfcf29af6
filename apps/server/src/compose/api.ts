import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthenticate } from '../accounts/authenticate.ts';
import { createCreateKey, createRevokeKey } from '../accounts/manage-keys.ts';
import type { Plans } from '../accounts/plans.ts';
import { createAccountKeys } from '../adapters/postgres/account-keys.ts';
import { createAccountStore } from '../adapters/postgres/account-store.ts';
import { createAuditReader } from '../adapters/postgres/audit-reader.ts';
import { createClaimStore } from '../adapters/postgres/claim-store.ts';
import { createCoverageStore } from '../adapters/postgres/coverage-store.ts';
import { createRuleChangeStore } from '../adapters/postgres/rule-change-store.ts';
import { createRuleStore } from '../adapters/postgres/rule-store.ts';
import { createAnswerOnce } from '../changes/answer-once.ts';
import { createListAudit } from '../changes/list-audit.ts';
import type { Config } from '../config.ts';
import { createGetCoverage } from '../coverage/get-coverage.ts';
import type { AnyRoute } from '../http/route.ts';
import { createKeyRoute } from '../http/routes/create-key.ts';
import { createRuleRoute } from '../http/routes/create-rule.ts';
import { deleteRuleRoute } from '../http/routes/delete-rule.ts';
import { getCoverageRoute } from '../http/routes/get-coverage.ts';
import { getRuleRoute } from '../http/routes/get-rule.ts';
import { listAuditRoute } from '../http/routes/list-audit.ts';
import { listKeysRoute } from '../http/routes/list-keys.ts';
import { listRulesRoute } from '../http/routes/list-rules.ts';
import { pauseRuleRoute } from '../http/routes/pause-rule.ts';
import { platformSyntaxRoute } from '../http/routes/platform-syntax.ts';
import { resumeRuleRoute } from '../http/routes/resume-rule.ts';
import { revokeKeyRoute } from '../http/routes/revoke-key.ts';
import { updateRuleRoute } from '../http/routes/update-rule.ts';
import { validateRuleRoute } from '../http/routes/validate-rule.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { createKeyGuesses } from '../limits/key-guesses.ts';
import { createRateLimits } from '../limits/rate-limits.ts';
import { createCursors } from '../readers/cursor.ts';
import { createCreateRule } from '../rules/create-rule.ts';
import { createDeleteRule } from '../rules/delete-rule.ts';
import { createGetRule } from '../rules/get-rule.ts';
import { createPauseRule } from '../rules/pause-rule.ts';
import { createResumeRule } from '../rules/resume-rule.ts';
import { createUpdateRule } from '../rules/update-rule.ts';
import { openReaders } from './readers.ts';
import type { Shared } from './shared.ts';
import { webhookRoutesOf } from './webhooks.ts';

/** Of one address. Callers have keys that work; this is for a list of old ones that somebody tries out. */
const keyGuessesPerMinute = 60;

export async function createApi(shared: Shared, stack: AsyncDisposableStack): Promise<HttpServer> {
  const { config, database } = shared;
  const nowMs = () => performance.now();
  const plans = plansOf(config);
  const contact = config.supportContact;
  return createHttpServer({
    ...shared,
    routes: [
      ...routesOf(shared, plans),
      ...accountRoutesOf(shared, plans),
      ...webhookRoutesOf(shared, plans, stack),
      ...(await openReaders(shared, plans, stack)),
    ],
    authenticate: createAuthenticate({
      store: createAccountStore(database),
      guesses: createKeyGuesses({ perMinute: keyGuessesPerMinute, nowMs }),
      nowMs,
    }),
    limits: createRateLimits({ plans, contact, nowMs, inFlightMax: config.requestsInFlightMax }),
    answerOnce: createAnswerOnce(createClaimStore(database)),
    isReady: () => missingEngines(shared),
    mcpOrigins: config.mcpOrigins,
  });
}

function plansOf(config: Config): Plans {
  return {
    free: {
      paid: false,
      premiumRulesMax: config.freePremiumRulesMax,
      requestsPerMinute: config.freeRequestsPerMinute,
      changesPerMinute: config.freeChangesPerMinute,
      keysMax: config.freeKeysMax,
      webhooksMax: config.freeWebhooksMax,
      readersMax: config.freeReadersMax,
    },
    paid: {
      paid: true,
      premiumRulesMax: config.premiumRulesMax,
      requestsPerMinute: config.requestsPerMinute,
      changesPerMinute: config.changesPerMinute,
      keysMax: config.keysMax,
      webhooksMax: config.webhooksMax,
      readersMax: config.readersMax,
    },
  };
}

function accountRoutesOf({ config, database, installation }: Shared, plans: Plans): AnyRoute[] {
  const store = createAccountKeys(database);
  const cursors = createCursors(installation.cursorSecret);
  return [
    createKeyRoute(createCreateKey({ store, plans, contact: config.supportContact })),
    listKeysRoute(store),
    revokeKeyRoute(createRevokeKey(store)),
    listAuditRoute(createListAudit({ reader: createAuditReader(database), cursors })),
  ];
}

function routesOf(shared: Shared, plans: Plans): AnyRoute[] {
  const { config, database, installation } = shared;
  const store = createRuleStore(database);
  const cursors = createCursors(installation.cursorSecret);
  const changes = createRuleChangeStore(database);
  const coverage = createCoverageStore(database, { xRuleDelayMs: config.xRuleDelayMs });
  const forChanges = { ...shared, store, changes, plans, contact: config.supportContact };
  return [
    createRuleRoute(createCreateRule({ ...shared, store, plans, contact: config.supportContact })),
    listRulesRoute({ store, cursors }),
    getRuleRoute(createGetRule(store)),
    updateRuleRoute(createUpdateRule({ ...forChanges, keepOldMs: config.keepOldValueMs })),
    pauseRuleRoute(createPauseRule(forChanges)),
    resumeRuleRoute(createResumeRule(forChanges)),
    deleteRuleRoute(createDeleteRule({ ...shared, store })),
    getCoverageRoute(createGetCoverage({ store: coverage, rules: store, nowMs: Date.now })),
    validateRuleRoute(),
    platformSyntaxRoute(),
  ];
}

const natsAnswersWithinMs = 1_000;

/** Ready means that requests can be served; the upstreams are not part of it. */
async function missingEngines({ database, nats }: Shared): Promise<string[]> {
  const [postgres, roundTripMs] = await Promise.all([
    database.one('select 1').catch(() => null),
    // While it reconnects it does not answer, and is not closed either.
    Promise.race([nats.connection.rtt().catch(() => null), sleep(natsAnswersWithinMs, null)]),
  ]);
  return [...(postgres ? [] : ['postgresql']), ...(roundTripMs === null ? ['nats'] : [])];
}
