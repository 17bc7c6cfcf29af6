import type { RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Plans } from '../accounts/plans.ts';
import type { Principal } from '../accounts/principal.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import type { Following, MatchFilter } from './follow-matches.ts';
import type { MatchReader } from './match-reader.ts';
import { moved, readPlace, refuseWhatIsRemoved, scopeOfReader, sealPlace, writePlace } from './place.ts';
import type { NamedReader, ReaderStore } from './reader-store.ts';

export interface ReadMatchesOptions {
  readonly store: ReaderStore;
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'removedThrough'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly coverage: ReadCoverage;
  readonly cursors: Cursors;
  readonly plans: Plans;
  readonly contact: string;
}

type Request = RequestOf<'ReadMatches'>;

/** What a named reader has not acknowledged. Reading moves nothing: who dies before it is done reads the same again. */
export function readMatches(options: ReadMatchesOptions): Handler<'ReadMatches'> {
  const { store, following, rules, coverage, cursors } = options;
  return async ({ principal, request, signal }) => {
    const { accountId } = principal;
    const reader =
      (await store.find(accountId, request.reader)) ?? (await makeReader(options, principal, request));
    refuseOtherFilter(reader, request);
    const { ruleId, platform } = reader;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw ruleIsGone();
    const filter: MatchFilter = { accountId, ruleId, platform };
    const place = reader.place === null ? null : readPlace(reader.place);
    const scope = scopeOfReader(accountId, request.reader);
    if (place) await refuseWhatIsRemoved(options, filter, scope, place);
    using follower = following.follow(filter, place?.position ?? 0);
    const waitMs = (request.wait_seconds ?? 0) * 1_000;
    const matches = await follower.next({ limit: request.limit, waitMs, signal });
    const last = matches.at(-1);
    return {
      matches: matches.map(({ match }) => match),
      cursor: last ? sealPlace(cursors, scope, moved(place, last.position)) : null,
      coverage: ruleId === null && platform === null ? null : await coverage(filter),
    };
  };
}

async function makeReader(
  { store, rules, following, plans, contact }: ReadMatchesOptions,
  { accountId, plan }: Principal,
  request: Request,
): Promise<NamedReader> {
  const ruleId = request.rule_id ?? null;
  if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
  const { readersMax } = plans[plan];
  const outcome = await store.create(accountId, {
    name: request.reader,
    ruleId,
    platform: request.platform ?? null,
    place: request.start === 'now' ? writePlace(moved(null, await following.now())) : null,
    readersMax,
  });
  if (outcome.kind === 'exists') return outcome.reader;
  throw new Failure(
    'resource_exhausted',
    `The account has ${outcome.used} of ${readersMax} readers: delete one, or ask ${contact} for more.`,
    { details: { limit: readersMax, used: outcome.used, contact } },
  );
}

/** A filter that is not sent is that of the reader; another one would silently skip what lies behind. */
function refuseOtherFilter({ ruleId, platform }: NamedReader, request: Request): void {
  const sameRule = request.rule_id === undefined || request.rule_id === ruleId;
  if (sameRule && (request.platform === undefined || request.platform === platform)) return;
  throw new Failure(
    'already_exists',
    'A reader of this name has another filter, see details.reader: choose another name, or leave the filter out.',
    { details: { reader: { rule_id: ruleId, platform } } },
  );
}

function ruleIsGone(): Failure {
  return new Failure(
    'failed_precondition',
    'The rule of this reader was deleted, and its matches with it: delete the reader.',
  );
}
