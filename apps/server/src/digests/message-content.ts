import type { Coverage, HiddenMatches, Match, Platform, Story } from '@earshot/contract';
import type { CoverageStore } from '../coverage/coverage-store.sql.ts';
import { coverageOf, type PlatformCoverage } from '../coverage/ledger.ts';
import { completeThroughOf, isoOrNull } from '../coverage/read-coverage.ts';
import type { Database } from '../engines/database.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import { countHidden, type HiddenEntry } from '../readers/hidden-matches.ts';
import type { MatchReader } from '../readers/match-reader.sql.ts';
import { toEntries } from '../readers/to-match.ts';
import type { Views } from '../readers/views.ts';
import { countMatches } from './counts.sql.ts';
import type { LeasedDigestMessage } from './digest-messages.sql.ts';

/** The content of a digest message: sent to webhooks, and the source of mails. */
export interface DigestContent {
  readonly digest_id: string;
  readonly name: string;
  readonly number: number;
  readonly from: string;
  readonly to: string;
  readonly time_zone: string;
  readonly total: number;
  /** How many of them are not shown because they are muted or not relevant; absent if none of the newest are. */
  readonly hidden?: HiddenMatches;
  /** True if there are more matches than were counted. */
  readonly total_is_minimum: boolean;
  readonly counts: ReadonlyArray<{
    readonly rule_id: string;
    readonly rule_name: string;
    readonly platform: Platform;
    readonly matches: number;
  }>;
  /** Newest first, or the largest story first; limited in number. */
  readonly matches: readonly ShownMatch[];
  readonly coverage: DigestCoverage;
}

export interface ShownMatch extends Pick<Match, 'id' | 'rule_id' | 'platform' | 'created_at'> {
  readonly url: string | null;
  readonly title: string | null;
  readonly text: string | null;
  readonly author: string | null;
  /** The words that matched. */
  readonly why: readonly string[];
  /** Only with `group`. */
  readonly story?: ShownStory;
}

export type ShownStory = Pick<Story, 'id' | 'matches' | 'platforms' | 'first_at' | 'last_at'>;

export interface DigestCoverage extends Coverage {
  /** True if the whole period was covered or repaired, so that no match is missing. */
  readonly without_gap: boolean;
}

export interface ContentOptions {
  readonly database: Database;
  readonly reader: Pick<MatchReader, 'read'>;
  readonly parsedRules: ParsedRules;
  readonly coverage: CoverageStore;
  readonly views: Pick<Views, 'view'>;
}

const countedMax = 1_000_000;
const countsMax = 100;
const gapsMax = 100;
const textLength = 500;
const titleLength = 200;
const urlLength = 2_000;
const authorLength = 100;
const whyLength = 60;
const whyMax = 4;

/** `isKnown`: coverage is known up to the end of the period. */
export async function readContent(
  options: ContentOptions,
  leased: LeasedDigestMessage,
): Promise<{ content: DigestContent; isKnown: boolean }> {
  const { accountId } = leased;
  const counted = await options.database
    .forAccount(accountId)
    .snapshot((sql) => countMatches(sql, leased, countedMax));
  const names = await ruleNames(options.database, accountId, [
    ...new Set(counted.map(({ ruleId }) => ruleId)),
  ]);
  const total = counted.reduce((sum, { matches }) => sum + matches, 0);
  const period = await readPeriod(options, leased);
  const content = {
    digest_id: leased.digestId,
    name: leased.name,
    number: leased.number,
    from: leased.from.toISOString(),
    to: leased.to.toISOString(),
    time_zone: leased.timeZone,
    total,
    total_is_minimum: total >= countedMax,
    counts: counted.slice(0, countsMax).map(({ ruleId, platform, matches }) => ({
      rule_id: ruleId,
      rule_name: names.get(ruleId) ?? ruleId,
      platform,
      matches,
    })),
    ...(await newestMatches(options, leased)),
    coverage: coverageOfPeriod(period),
  };
  return { content, isKnown: isKnown(period) };
}

async function ruleNames(
  database: Database,
  accountId: string,
  ruleIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await database
    .forAccount(accountId)
    .many<{ id: string; name: string }>(
      `select id, name from rules where account_id = $1 and id = any($2) and state not in ('creating', 'deleted')`,
      [accountId, ruleIds],
    );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** A digest reads no more matches than these to find some that it shows. */
const readMax = 5_000;

/** Pages of a digest that reads all of its matches, to find its largest stories. */
const storyPageSize = 200;

async function newestMatches(
  { reader, parsedRules, views }: ContentOptions,
  leased: LeasedDigestMessage,
): Promise<Pick<DigestContent, 'matches' | 'hidden'>> {
  const { accountId, ruleIds, platform, relevance, grouping, positionFrom, positionTo, maxMatches } = leased;
  const times = { since: null, until: null };
  const order = 'newest';
  const stories =
    grouping === null
      ? null
      : ({ ruleIds, platform, ...times, order, after: positionFrom, through: positionTo } as const);
  const view = { relevance, hidden: 'exclude', waits: false, stories } as const;
  const shown: ShownMatch[] = [];
  const hiddenAt: HiddenEntry[] = [];
  let from = positionTo + 1;
  // A page of large matches has fewer than requested.
  const isFull = () => stories === null && shown.length >= maxMatches;
  for (let read = 0; !isFull() && read < readMax; ) {
    const limit = stories ? storyPageSize : maxMatches - shown.length;
    const { matches, more } = await reader.read({
      accountId,
      ruleIds,
      platform,
      ...times,
      order,
      from,
      limit,
    });
    const within = matches.filter(({ position }) => position > positionFrom);
    read += matches.length;
    const entries = await toEntries(parsedRules, within);
    const seen = await views.view(accountId, entries, { view, marks: true });
    for (const one of seen.entries) if ('match' in one) shown.push(toShown(one.match));
    hiddenAt.push(...seen.hiddenAt);
    const last = matches.at(-1);
    if (!more || !last || within.length < matches.length) break;
    from = last.position;
  }
  const size = ({ story }: ShownMatch) => story?.matches ?? 0;
  if (stories) shown.sort((one, other) => size(other) - size(one));
  return {
    matches: shown.slice(0, maxMatches),
    ...(hiddenAt.length > 0 && { hidden: countHidden(hiddenAt) }),
  };
}

function toShown({ id, rule_id, platform, created_at, payload, why, story }: Match): ShownMatch {
  const { url, title, text, author } = payload;
  const words = [...new Set(why.evidence.map((one) => one.text))];
  return {
    id,
    rule_id,
    platform,
    created_at,
    url: url !== null && url.length <= urlLength ? url : null,
    title: cut(title, titleLength),
    text: cut(text, textLength),
    author: cut(author?.handle ?? author?.name ?? null, authorLength),
    why: words.slice(0, whyMax).flatMap((word) => cut(word, whyLength) ?? []),
    ...(story && { story: shownStory(story) }),
  };
}

function shownStory({ id, matches, platforms, first_at, last_at }: Story): ShownStory {
  return { id, matches, platforms, first_at, last_at };
}

function cut(text: string | null, length: number): string | null {
  if (text === null || text.length <= length) return text;
  return `${text.slice(0, length - 1).toWellFormed()}…`;
}

interface Period {
  readonly covered: readonly PlatformCoverage[];
  readonly to: Date;
  readonly matchedThrough: Date;
}

/** Reads the coverage of each rule, or of all platforms that the account uses. */
async function readPeriod(
  { database, coverage }: ContentOptions,
  { accountId, ruleIds, platform, from, to }: LeasedDigestMessage,
): Promise<Period> {
  if (ruleIds === null) {
    const ledger = await coverage.read({ accountId, ruleId: null, platform, from, to });
    const used = await platformsInUse(database, accountId);
    return { ...ledger, covered: coverageOf(ledger).filter((one) => used.includes(one.platform)) };
  }
  const covered: PlatformCoverage[] = [];
  let matchedThrough = to;
  for (const ruleId of (await ruleNames(database, accountId, ruleIds)).keys()) {
    const ledger = await coverage.read({ accountId, ruleId, platform, from, to });
    covered.push(...coverageOf(ledger));
    if (ledger.matchedThrough < matchedThrough) matchedThrough = ledger.matchedThrough;
  }
  return { covered, to, matchedThrough };
}

async function platformsInUse(database: Database, accountId: string): Promise<Platform[]> {
  const rows = await database.forAccount(accountId).many<{ platform: Platform }>(
    `select distinct v.platform from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
     where rules.account_id = $1 and rules.state not in ('creating', 'deleted')`,
    [accountId],
  );
  return rows.map(({ platform }) => platform);
}

/** Lists all time that was not live, including the time before a rule took effect. A gap of several rules is listed once. */
function coverageOfPeriod(period: Period): DigestCoverage {
  const { covered } = period;
  const listed = covered.flatMap(({ platform, timeline }) =>
    timeline
      .filter(({ state }) => state !== 'live')
      .map((span) => ({
        platform,
        from: new Date(span.from).toISOString(),
        to: isoOrNull(span.to),
        reason: span.reason ?? span.state,
        repaired: span.state === 'repaired',
      })),
  );
  const gaps = [...new Map(listed.map((gap) => [JSON.stringify(gap), gap])).values()];
  const isCovered = covered.length > 0 && gaps.every(({ repaired }) => repaired);
  return {
    without_gap: isCovered && isKnown(period),
    complete_through: completeThroughOf(covered),
    gaps: gaps.toSorted((a, b) => a.from.localeCompare(b.from)).slice(-gapsMax),
  };
}

/** Whether coverage is known, and matching complete, up to the end of the period. */
function isKnown({ covered, to, matchedThrough }: Period): boolean {
  const ends = covered.map(({ timeline }) => timeline.at(-1)?.to ?? Number.NEGATIVE_INFINITY);
  return matchedThrough >= to && ends.every((end) => end >= to.getTime());
}
