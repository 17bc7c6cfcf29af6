import { fileURLToPath } from 'node:url';
import { createAuthenticate, createKeyGuesses, createKeyLookup } from '../accounts/authenticate.ts';
import { createConsoleSessions } from '../accounts/console-sessions.ts';
import { createAnswerOnce, createClaimStore } from '../accounts/idempotency.ts';
import { createKeyWatch } from '../accounts/key-watch.ts';
import { createKey, createKeyStore, listKeys, revokeKey, whoAmI } from '../accounts/keys.ts';
import { listAudit } from '../accounts/list-audit.ts';
import { createRateLimits, createStreamLimit } from '../accounts/rate-limits.ts';
import { createArchive } from '../archives/create-archive.ts';
import { deleteArchive, listArchives } from '../archives/manage-archives.ts';
import { getUsage } from '../billing/get-usage.ts';
import { createAssertAffordable } from '../budgets/assert-affordable.ts';
import { createCoverageStore } from '../coverage/coverage-store.sql.ts';
import { getCoverage } from '../coverage/get-coverage.ts';
import { createReadCoverage } from '../coverage/read-coverage.ts';
import { createDigest } from '../digests/create-digest.ts';
import { deleteDigest, listDigests, updateDigest } from '../digests/manage-digests.ts';
import type { Database } from '../engines/database.ts';
import { cursorSecretsEveryMs, readCursorSecrets } from '../engines/installation.ts';
import { previewRule } from '../estimates/preview-rule.ts';
import { createExportLimit } from '../exports/export-limit.ts';
import { exportMatches } from '../exports/export-matches.ts';
import { createFeed, deleteFeed, listFeeds } from '../feeds/manage-feeds.ts';
import { createReadFeed } from '../feeds/read-feed.ts';
import type { Handlers } from '../http/handlers.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { listSources } from '../ingest/list-sources.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import { syntaxGuides } from '../language/rule-language.ts';
import { createNoticeReader, type NoticeReader } from '../notices/notice-reader.sql.ts';
import { ackMatches } from '../readers/ack-matches.ts';
import { countMatches } from '../readers/count-matches.ts';
import { createFollowing } from '../readers/follow-matches.ts';
import { createNoticeFollowing, type NoticeFollowing } from '../readers/follow-notices.ts';
import { getMatch } from '../readers/get-match.ts';
import { listMatches } from '../readers/list-matches.ts';
import { listNotices } from '../readers/list-notices.ts';
import { deleteReader, listReaders } from '../readers/manage-readers.ts';
import { createMatchReader, type MatchReader } from '../readers/match-reader.sql.ts';
import { type MatchTail, openMatchTail } from '../readers/match-tail.ts';
import { readMatches } from '../readers/read-matches.ts';
import { streamMatches } from '../readers/stream-matches.ts';
import { streamNotices } from '../readers/stream-notices.ts';
import { createTailReader } from '../readers/tail-reader.sql.ts';
import { getRelevance } from '../relevance/get-relevance.ts';
import { labelMatches } from '../relevance/label-matches.ts';
import { listLabels } from '../relevance/list-labels.ts';
import { deleteMute, listMutes, muteMatches } from '../relevance/manage-mutes.ts';
import { createRule } from '../rules/create-rule.ts';
import { deleteRule } from '../rules/delete-rule.ts';
import { getRule } from '../rules/get-rule.ts';
import { listRules } from '../rules/list-rules.ts';
import { pauseRule } from '../rules/pause-rule.ts';
import { createAssertRule } from '../rules/refusals.ts';
import { resumeRule } from '../rules/resume-rule.ts';
import { createRuleStore } from '../rules/rule-store.sql.ts';
import { updateRule } from '../rules/update-rule.ts';
import { validateRule } from '../rules/validate-rule.ts';
import { type Cursors, createCursors } from '../runtime/cursor.ts';
import { supervise } from '../runtime/supervisor.ts';
import { every } from '../runtime/worker.ts';
import { createWebhook } from '../webhooks/create-webhook.ts';
import { listDeliveries } from '../webhooks/list-deliveries.ts';
import {
  deleteWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from '../webhooks/manage-webhooks.ts';
import { createUrlProblem } from '../webhooks/public-address.ts';
import { replayWebhook } from '../webhooks/replay-webhook.ts';
import { testWebhook } from '../webhooks/test-webhook.ts';
import { openAuthorizationServer, openTrustedIssuer } from './oauth.ts';
import type { Readiness } from './readiness.ts';
import {
  consoleUrlOf,
  hasJudge,
  isOutage,
  mailPolicyOf,
  openSender,
  type Shared,
  secretBoxOf,
} from './shared.ts';
import { countingOf, installationBudgetOf, tiersOf } from './sources.ts';

const consoleFolder = fileURLToPath(new URL('../../../console/dist', import.meta.url));

/** Per address. Valid keys are not limited by it; it slows down an attacker who tries a list of old keys. */
const keyGuessesPerMinute = 60;

export async function createApi(
  shared: Shared,
  stack: AsyncDisposableStack,
  isReady: Readiness,
): Promise<HttpServer> {
  const { config, database } = shared;
  const nowMs = () => performance.now();
  const contact = config.supportContact;
  const tail = await openMatchTail({ ...shared, reader: createTailReader(database) });
  const notices = createNoticeReader(database);
  const followingNotices = createNoticeFollowing({ ...shared, reader: notices });
  const keyWatch = createKeyWatch(database);
  const guesses = createKeyGuesses({ perMinute: keyGuessesPerMinute, nowMs });
  const cookieSecrets = await readCursorSecrets(database);
  const cursors = createCursors(...cookieSecrets);
  const forOAuth = { contact, guesses, nowMs, cookieSecrets };
  const authorizationServer = await openAuthorizationServer(shared, stack, forOAuth);
  const secrets = every('cursor-secrets', cursorSecretsEveryMs, async () => {
    const read = await readCursorSecrets(database);
    cursors.use(read);
    authorizationServer?.useCookieSecrets(read);
  });
  stack.use(
    supervise([tail.worker, followingNotices.worker, keyWatch.worker, secrets], { ...shared, isOutage }),
  );
  return createHttpServer({
    ...shared,
    handlers: handlersOf(shared, stack, { cursors, tail, notices, followingNotices }),
    keyWatch,
    authenticate: createAuthenticate({
      store: createKeyLookup(database),
      guesses,
      nowMs,
    }),
    sessions: config.console === 'on' ? createConsoleSessions({ database, guesses }) : null,
    limits: createRateLimits({ contact, nowMs, inFlightMax: config.requestsInFlightMax }),
    answerOnce: createAnswerOnce(createClaimStore(database)),
    readFeed: readFeedOf(shared),
    consoleFolder,
    isReady,
    mcpConfirmUsd: config.mcpConfirmUsd,
    publicUrl: config.publicUrl ?? null,
    resourceServer: authorizationServer ?? (await openTrustedIssuer(shared, forOAuth)),
    authorizationServer,
    trustedProxies: config.trustedProxies,
  });
}

/** What the handlers of several folders need. */
interface Common {
  readonly database: Database;
  readonly rules: ReturnType<typeof createRuleStore>;
  readonly reader: MatchReader;
  readonly parsedRules: ParsedRules;
  readonly cursors: Cursors;
  readonly contact: string;
}

/** What the handlers of matches and notices share. */
interface Following {
  readonly cursors: Cursors;
  readonly tail: MatchTail;
  readonly notices: NoticeReader;
  readonly followingNotices: NoticeFollowing;
}

/** The handlers of all operations. */
function handlersOf(
  shared: Shared,
  stack: AsyncDisposableStack,
  { cursors, tail, ...forNotices }: Following,
): Handlers {
  const { config, database, parsedRules, views } = shared;
  const contact = config.supportContact;
  const rules = createRuleStore(database, config);
  const forCoverage = coverageOf(shared);
  const reader = createMatchReader(database);
  const tiers = tiersOf(config);
  const estimating = { ...estimatingOf(shared, stack), coverage: forCoverage.store };
  const assertAffordable = createAssertAffordable({ ...estimating, ruleBudget: config.ruleBudget });
  const forRules = {
    ...shared,
    nowMs: shared.clock.nowMs,
    store: rules,
    tiers,
    contact,
    pricing: config,
    assertAffordable,
    hasJudge: hasJudge(config),
  };
  const common = { database, rules, reader, parsedRules, cursors, contact, views };
  const forReaders = {
    ...common,
    ...forNotices,
    countStream: createStreamLimit({ perKeyMax: config.streamsPerKeyMax, contact }),
    following: createFollowing({ ...common, tail }),
    coverage: createReadCoverage(forCoverage),
  };
  return {
    CreateRule: createRule(forRules),
    ListRules: listRules({ store: rules, cursors }),
    GetRule: getRule(rules),
    UpdateRule: updateRule({ ...forRules, keepOldMs: config.keepOldValueMs }),
    PauseRule: pauseRule(forRules),
    ResumeRule: resumeRule(forRules),
    DeleteRule: deleteRule(forRules),
    PreviewRule: previewRule({ ...common, ...estimating, tiers }),
    ValidateRule: validateRule(tiers),
    PlatformSyntax: async ({ request }) => ({ platforms: syntaxGuides(request.platforms) }),
    GetCoverage: getCoverage({ ...forCoverage, rules }),
    GetUsage: getUsage({
      database,
      assertRule: createAssertRule(rules),
      prices: config.prices,
      nowMs: shared.clock.nowMs,
    }),
    ListSources: listSources(shared),
    ListMatches: listMatches(forReaders),
    GetMatch: getMatch(common),
    CountMatches: countMatches(common),
    ExportMatches: exportMatches({ ...forReaders, countExport: createExportLimit(contact) }),
    StreamMatches: streamMatches(forReaders),
    ListNotices: listNotices(forReaders),
    StreamNotices: streamNotices(forReaders),
    ReadMatches: readMatches(forReaders),
    AckMatches: ackMatches(common),
    LabelMatches: labelMatches(common),
    ListLabels: listLabels(common),
    MuteMatches: muteMatches(common),
    ListMutes: listMutes(common),
    DeleteMute: deleteMute(common),
    GetRelevance: getRelevance({ database, model: config.judgeModel ?? null }),
    ListReaders: listReaders(common),
    DeleteReader: deleteReader(common),
    ...keyHandlers(common),
    ...webhookHandlers(shared, stack, common),
    ...digestHandlers(shared, common),
    ...feedHandlers(shared, common),
  };
}

function coverageOf({ config, database, clock }: Shared) {
  return {
    store: createCoverageStore(database),
    retentionDays: config.retentionDays,
    nowMs: clock.nowMs,
  };
}

function estimatingOf(shared: Shared, stack: AsyncDisposableStack) {
  const { config, database, clock } = shared;
  const installationBudget = installationBudgetOf(shared);
  return { database, config, nowMs: clock.nowMs, ...countingOf(config, stack), installationBudget };
}

function keyHandlers(common: Common) {
  const keys = createKeyStore(common.database);
  return {
    CreateKey: createKey({ ...common, keys }),
    WhoAmI: whoAmI(),
    ListKeys: listKeys(keys, common.cursors),
    RevokeKey: revokeKey(keys),
    ListAudit: listAudit(common),
  };
}

function webhookHandlers({ config }: Shared, stack: AsyncDisposableStack, common: Common) {
  const options = {
    ...common,
    urlProblem: createUrlProblem({ allowInsecure: config.allowInsecureWebhooks }),
    secretBox: secretBoxOf(config),
    sender: stack.use(openSender(config)),
    consoleUrl: consoleUrlOf(config),
  };
  return {
    CreateWebhook: createWebhook(options),
    ListWebhooks: listWebhooks(options),
    UpdateWebhook: updateWebhook(options),
    DeleteWebhook: deleteWebhook(options),
    CreateArchive: createArchive(options),
    ListArchives: listArchives(options),
    DeleteArchive: deleteArchive(options),
    RotateWebhookSecret: rotateWebhookSecret(options),
    TestWebhook: testWebhook(options),
    ListDeliveries: listDeliveries(options),
    ReplayWebhook: replayWebhook(options),
  };
}

function digestHandlers({ config }: Shared, common: Common) {
  const options = { ...common, mail: mailPolicyOf(config) };
  return {
    CreateDigest: createDigest(options),
    ListDigests: listDigests(options),
    UpdateDigest: updateDigest(options),
    DeleteDigest: deleteDigest(options),
  };
}

function feedHandlers({ config }: Shared, common: Common) {
  const options = { ...common, publicUrl: config.publicUrl ?? null };
  return {
    CreateFeed: createFeed(options),
    ListFeeds: listFeeds(options),
    DeleteFeed: deleteFeed(options),
  };
}

function readFeedOf(shared: Shared) {
  const { config, database, installation } = shared;
  return createReadFeed({
    ...shared,
    reader: createMatchReader(database),
    hasJudge: hasJudge(config),
    installationId: installation.id,
    consoleUrl: consoleUrlOf(config),
    contact: config.supportContact,
    nowMs: () => performance.now(),
  });
}
