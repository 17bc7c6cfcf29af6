import { createAuthenticate } from '../accounts/authenticate.ts';
import type { Plans } from '../accounts/plans.ts';
import { createAccountStore } from '../adapters/postgres/account-store.ts';
import { createMatchReader } from '../adapters/postgres/match-reader.ts';
import { createRuleChangeStore } from '../adapters/postgres/rule-change-store.ts';
import { createRuleStore } from '../adapters/postgres/rule-store.ts';
import { createSourceStore } from '../adapters/postgres/source-store.ts';
import { createReadCoverage } from '../coverage/read-coverage.ts';
import type { AnyRoute } from '../http/route.ts';
import { createRuleRoute } from '../http/routes/create-rule.ts';
import { deleteRuleRoute } from '../http/routes/delete-rule.ts';
import { getRuleRoute } from '../http/routes/get-rule.ts';
import { listMatchesRoute } from '../http/routes/list-matches.ts';
import { listRulesRoute } from '../http/routes/list-rules.ts';
import { pauseRuleRoute } from '../http/routes/pause-rule.ts';
import { platformSyntaxRoute } from '../http/routes/platform-syntax.ts';
import { resumeRuleRoute } from '../http/routes/resume-rule.ts';
import { updateRuleRoute } from '../http/routes/update-rule.ts';
import { validateRuleRoute } from '../http/routes/validate-rule.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { createParsedRules } from '../language/parsed-rules.ts';
import { createCursors } from '../readers/cursor.ts';
import { createListMatches } from '../readers/list-matches.ts';
import { createCreateRule } from '../rules/create-rule.ts';
import { createDeleteRule } from '../rules/delete-rule.ts';
import { createGetRule } from '../rules/get-rule.ts';
import { createPauseRule } from '../rules/pause-rule.ts';
import { createResumeRule } from '../rules/resume-rule.ts';
import { createUpdateRule } from '../rules/update-rule.ts';
import type { Shared } from './shared.ts';

export function createApi(shared: Shared): HttpServer {
  return createHttpServer({
    ...shared,
    routes: routesOf(shared),
    authenticate: createAuthenticate(createAccountStore(shared.database), () => performance.now()),
    isReady: () => missingEngines(shared),
  });
}

function routesOf(shared: Shared): AnyRoute[] {
  const { config, database, installation } = shared;
  const store = createRuleStore(database);
  const cursors = createCursors(installation.cursorSecret);
  const plans: Plans = {
    free: { paid: false, premiumRulesMax: 0 },
    paid: { paid: true, premiumRulesMax: config.premiumRulesMax },
  };
  const changes = createRuleChangeStore(database);
  const forChanges = { ...shared, store, changes, plans, contact: config.supportContact };
  return [
    createRuleRoute(createCreateRule({ ...shared, store, plans, contact: config.supportContact })),
    listRulesRoute({ store, cursors }),
    getRuleRoute(createGetRule(store)),
    updateRuleRoute(createUpdateRule({ ...forChanges, keepOldMs: config.keepOldValueMs })),
    pauseRuleRoute(createPauseRule(forChanges)),
    resumeRuleRoute(createResumeRule(forChanges)),
    deleteRuleRoute(createDeleteRule({ ...shared, store })),
    listMatchesRoute(
      createListMatches({
        ...shared,
        reader: createMatchReader(database),
        rules: store,
        coverage: createReadCoverage(createSourceStore(database)),
        parsedRules: createParsedRules(),
        cursors,
      }),
    ),
    validateRuleRoute(),
    platformSyntaxRoute(),
  ];
}

/** Ready means that requests can be served; the upstreams are not part of it. */
async function missingEngines({ database, nats }: Shared): Promise<string[]> {
  const postgres = await database.one('select 1').catch(() => null);
  return [...(postgres ? [] : ['postgresql']), ...(nats.connection.isClosed() ? ['nats'] : [])];
}
