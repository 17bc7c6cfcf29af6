import { createKeyWatch } from '../accounts/key-watch.ts';
import type { Plans } from '../accounts/plans.ts';
import { createAccountStore } from '../adapters/postgres/account-store.ts';
import { createCoverageStore } from '../adapters/postgres/coverage-store.ts';
import { createMatchReader } from '../adapters/postgres/match-reader.ts';
import { createMatchTailSource } from '../adapters/postgres/match-tail-source.ts';
import { createReaderStore } from '../adapters/postgres/reader-store.ts';
import { createRuleStore } from '../adapters/postgres/rule-store.ts';
import { createReadCoverage } from '../coverage/read-coverage.ts';
import type { AnyRoute } from '../http/route.ts';
import { ackMatchesRoute } from '../http/routes/ack-matches.ts';
import { deleteReaderRoute } from '../http/routes/delete-reader.ts';
import { listMatchesRoute } from '../http/routes/list-matches.ts';
import { listReadersRoute } from '../http/routes/list-readers.ts';
import { readMatchesRoute } from '../http/routes/read-matches.ts';
import { streamMatchesRoute } from '../http/routes/stream-matches.ts';
import { createStreamLimit } from '../limits/stream-limit.ts';
import { createAckMatches } from '../readers/ack-matches.ts';
import { createCursors } from '../readers/cursor.ts';
import { createDeleteReader } from '../readers/delete-reader.ts';
import { createFollowing } from '../readers/follow-matches.ts';
import { createListMatches } from '../readers/list-matches.ts';
import { openMatchTail } from '../readers/match-tail.ts';
import { createReadMatches } from '../readers/read-matches.ts';
import { createStreamMatches } from '../readers/stream-matches.ts';
import { supervise } from '../runtime/supervisor.ts';
import type { Shared } from './shared.ts';

/** Everybody who reads matches on this node, and the two workers behind them. */
export async function openReaders(
  shared: Shared,
  plans: Plans,
  stack: AsyncDisposableStack,
): Promise<AnyRoute[]> {
  const { config, database, installation, bells, parsedRules } = shared;
  const contact = config.supportContact;
  const tail = await openMatchTail({ source: createMatchTailSource(database), parsedRules, bells });
  const keyWatch = createKeyWatch(createAccountStore(database));
  stack.use(supervise([tail.worker, keyWatch.worker], shared));
  const reader = createMatchReader(database);
  const store = createReaderStore(database);
  const common = {
    following: createFollowing({ tail, reader, parsedRules }),
    rules: createRuleStore(database),
    coverage: createReadCoverage(
      createCoverageStore(database, { xRuleDelayMs: config.xRuleDelayMs }),
      Date.now,
    ),
    cursors: createCursors(installation.cursorSecret),
    parsedRules,
    reader,
    store,
    plans,
    contact,
  };
  const takePlace = createStreamLimit({ perKeyMax: config.streamsPerKeyMax, contact });
  return [
    listMatchesRoute(createListMatches(common)),
    streamMatchesRoute(createStreamMatches({ ...common, keyWatch, takePlace })),
    readMatchesRoute(createReadMatches(common)),
    ackMatchesRoute(createAckMatches(common)),
    listReadersRoute(store),
    deleteReaderRoute(createDeleteReader(store)),
  ];
}
