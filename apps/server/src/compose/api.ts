import { setTimeout as sleep } from 'node:timers/promises';
import { createAccountKeys } from '../accounts/account-keys.ts';
import { createAccountStore } from '../accounts/account-store.ts';
import { createAnswerOnce } from '../accounts/answer-once.ts';
import { createAuditReader } from '../accounts/audit-reader.ts';
import { createAuthenticate } from '../accounts/authenticate.ts';
import { createClaimStore } from '../accounts/claim-store.ts';
import { createKeyGuesses } from '../accounts/key-guesses.ts';
import { createKeyWatch, type KeyWatch } from '../accounts/key-watch.ts';
import { listAudit } from '../accounts/list-audit.ts';
import { createKey, listKeys, revokeKey } from '../accounts/manage-keys.ts';
import type { Plans } from '../accounts/plans.ts';
import { createRateLimits } from '../accounts/rate-limits.ts';
import { createStreamLimit } from '../accounts/stream-limit.ts';
import type { Config } from '../config.ts';
import { createCoverageStore } from '../coverage/coverage-store.sql.ts';
import { getCoverage } from '../coverage/get-coverage.ts';
import { createReadCoverage } from '../coverage/read-coverage.ts';
import type { Handlers } from '../http/handlers.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { syntaxGuides } from '../language/rule-language.ts';
import { ackMatches } from '../readers/ack-matches.ts';
import { deleteReader } from '../readers/delete-reader.ts';
import { createFollowing } from '../readers/follow-matches.ts';
import { listMatches } from '../readers/list-matches.ts';
import { createMatchReader } from '../readers/match-reader.sql.ts';
import { type MatchTail, openMatchTail } from '../readers/match-tail.ts';
import { createMatchTailSource } from '../readers/match-tail-source.ts';
import { readMatches } from '../readers/read-matches.ts';
import { createReaderStore } from '../readers/reader-store.sql.ts';
import { streamMatches } from '../readers/stream-matches.ts';
import { createRule } from '../rules/create-rule.ts';
import { deleteRule } from '../rules/delete-rule.ts';
import { getRule } from '../rules/get-rule.ts';
import { listRules } from '../rules/list-rules.ts';
import { pauseRule } from '../rules/pause-rule.ts';
import { resumeRule } from '../rules/resume-rule.ts';
import { createRuleChangeStore } from '../rules/rule-change-store.sql.ts';
import { createRuleStore } from '../rules/rule-store.sql.ts';
import { updateRule } from '../rules/update-rule.ts';
import { validateRule } from '../rules/validate-rule.ts';
import { createCursors } from '../runtime/cursor.ts';
import { supervise } from '../runtime/supervisor.ts';
import { createWebhook } from '../webhooks/create-webhook.ts';
import { createDeliveryLog } from '../webhooks/delivery-log.ts';
import { listDeliveries } from '../webhooks/list-deliveries.ts';
import {
  deleteWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from '../webhooks/manage-webhooks.ts';
import { replayWebhook } from '../webhooks/replay-webhook.ts';
import { testWebhook } from '../webhooks/test-webhook.ts';
import { createUrlProblem } from '../webhooks/url-problem.ts';
import { createWebhookStore } from '../webhooks/webhook-store.sql.ts';
import { openSender, type Shared, secretBoxOf } from './shared.ts';

/** Of one address. Callers have keys that work; this is for a list of old ones that somebody tries out. */
const keyGuessesPerMinute = 60;

export async function createApi(shared: Shared, stack: AsyncDisposableStack): Promise<HttpServer> {
  const { config, database, bells, parsedRules } = shared;
  const nowMs = () => performance.now();
  const plans = plansOf(config);
  const contact = config.supportContact;
  const tail = await openMatchTail({ source: createMatchTailSource(database), parsedRules, bells });
  const keyWatch = createKeyWatch(createAccountStore(database));
  stack.use(supervise([tail.worker, keyWatch.worker], shared));
  return createHttpServer({
    ...shared,
    handlers: handlersOf(shared, stack, { plans, tail, keyWatch }),
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

/** Every operation, and what carries it out. */
function handlersOf(
  shared: Shared,
  stack: AsyncDisposableStack,
  { plans, tail, keyWatch }: { plans: Plans; tail: MatchTail; keyWatch: KeyWatch },
): Handlers {
  const { config, database, installation, parsedRules } = shared;
  const contact = config.supportContact;
  const cursors = createCursors(installation.cursorSecret);
  const rules = createRuleStore(database);
  const forCoverage = coverageOptions(shared);
  const matches = createMatchReader(database);
  const accountKeys = createAccountKeys(database);
  const webhooks = createWebhookStore(database);
  const forRules = { ...shared, store: rules, changes: createRuleChangeStore(database), plans, contact };
  const forReaders = {
    following: createFollowing({ tail, reader: matches, parsedRules }),
    rules,
    coverage: createReadCoverage(forCoverage),
    cursors,
    parsedRules,
    reader: matches,
    store: createReaderStore(database),
    plans,
    contact,
  };
  const forWebhooks = {
    store: webhooks,
    rules,
    urlProblem: createUrlProblem({ allowInsecure: config.allowInsecureWebhooks }),
    secretBox: secretBoxOf(config),
    sender: stack.use(openSender(config)),
    plans,
    contact,
  };
  return {
    CreateRule: createRule(forRules),
    ListRules: listRules({ store: rules, cursors }),
    GetRule: getRule(rules),
    UpdateRule: updateRule({ ...forRules, keepOldMs: config.keepOldValueMs }),
    PauseRule: pauseRule(forRules),
    ResumeRule: resumeRule(forRules),
    DeleteRule: deleteRule(forRules),
    ValidateRule: async ({ request }) => validateRule(request),
    PlatformSyntax: async ({ request }) => ({ platforms: syntaxGuides(request.platforms) }),
    GetCoverage: getCoverage({ ...forCoverage, rules }),
    ListMatches: listMatches(forReaders),
    StreamMatches: streamMatches({
      ...forReaders,
      keyWatch,
      takePlace: createStreamLimit({ perKeyMax: config.streamsPerKeyMax, contact }),
    }),
    ReadMatches: readMatches(forReaders),
    AckMatches: ackMatches(forReaders),
    ListReaders: async ({ principal }) => ({ readers: await forReaders.store.list(principal.accountId) }),
    DeleteReader: deleteReader(forReaders.store),
    CreateKey: createKey({ store: accountKeys, plans, contact }),
    ListKeys: listKeys(accountKeys),
    RevokeKey: revokeKey(accountKeys),
    ListAudit: listAudit({ reader: createAuditReader(database), cursors }),
    CreateWebhook: createWebhook(forWebhooks),
    ListWebhooks: listWebhooks(webhooks),
    UpdateWebhook: updateWebhook(forWebhooks),
    DeleteWebhook: deleteWebhook(webhooks),
    RotateWebhookSecret: rotateWebhookSecret(forWebhooks),
    TestWebhook: testWebhook(forWebhooks),
    ListDeliveries: listDeliveries({ store: webhooks, reader: createDeliveryLog(database), cursors }),
    ReplayWebhook: replayWebhook({ store: webhooks, reader: matches }),
  };
}

function coverageOptions({ config, database }: Shared) {
  const ruleDelaysMs = { x: config.xRuleDelayMs, firehose: 0 };
  const store = createCoverageStore(database, { ruleDelaysMs });
  return { store, retentionDays: config.retentionDays, nowMs: Date.now };
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
