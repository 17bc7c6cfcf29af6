import type { HiddenMatches, Match, RelevanceFilter } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import {
  type AccountRelevance,
  type Fact,
  findMatches,
  readAccount,
  readFacts,
} from '../relevance/relevance.sql.ts';
import { muteOf } from '../relevance/which-mute.ts';
import { positionOf } from '../runtime/ids.ts';
import type { StoryRange } from '../stories/story-reader.sql.ts';
import { groupStories } from './group-stories.ts';
import { countHidden, type HiddenEntry } from './hidden-matches.ts';
import type { LogEntry, MatchEntry } from './to-match.ts';

/*
 * What a reader leaves out: muted matches, and those that are not relevant or not the first of their story if it wants so. Everything is stored, and applied when it is
 * read: so a label, a mute and its deletion take effect for all matches, and a fault of the judge loses none.
 */

/** What a reader wants to see. */
export interface View {
  readonly relevance: RelevanceFilter;
  readonly hidden: 'exclude' | 'include' | 'only';
  /** Whether it waits for verdicts. A list of the newest matches does not: what has none yet is shown. */
  readonly waits: boolean;
  /** Lists each story of this range once. */
  readonly stories?: StoryRange | null;
}

/** A push that leaves out what is not relevant waits this long for the verdict. */
const verdictWaitMs = 30_000;

export interface Viewed {
  readonly entries: readonly LogEntry[];
  readonly hidden: HiddenMatches;
  /** The positions of what is counted there. */
  readonly hiddenAt: readonly HiddenEntry[];
  /** The position of the last entry that was decided, shown or not; null if there was none. */
  readonly through: number | null;
  /** Set if the next entry waits for a verdict: when it passes without one. */
  readonly waitsUntil: Date | null;
}

/** What other nodes change takes effect after this time. */
const keptMs = 2_000;
const accountsMax = 10_000;

const noFacts: ReadonlyMap<number, Fact> = new Map();

interface Wanted {
  readonly view: View;
  /** The shown matches say whether they are relevant. */
  readonly marks: boolean;
}

export type Views = ReturnType<typeof createViews>;

export function createViews({
  database,
  hasJudge,
  nowMs = Date.now,
}: {
  readonly database: Database;
  readonly hasJudge: boolean;
  readonly nowMs?: () => number;
}) {
  const kept = new Map<
    string,
    { account: AccountRelevance | Promise<AccountRelevance>; readonly untilMs: number }
  >();
  const accountOf = (accountId: string): AccountRelevance | Promise<AccountRelevance> => {
    const known = kept.get(accountId);
    if (known && known.untilMs > nowMs()) return known.account;
    if (kept.size >= accountsMax) kept.clear();
    const reading = readAccount(database, accountId, { hasJudge });
    const mine = {
      account: reading as AccountRelevance | Promise<AccountRelevance>,
      untilMs: nowMs() + keptMs,
    };
    kept.set(accountId, mine);
    reading.then(
      (account) => (mine.account = account),
      () => kept.get(accountId) === mine && kept.delete(accountId),
    );
    return reading;
  };

  const decide = (
    accountId: string,
    entries: readonly LogEntry[],
    { view, marks }: Wanted,
    account: AccountRelevance,
  ): Viewed | Promise<Viewed> => {
    const decideWith = (facts: ReadonlyMap<number, Fact>) =>
      decideAll(entries, { view, account, facts, nowMs: nowMs() });
    if (!account.hasFacts || (!marks && view.relevance === 'all')) return decideWith(noFacts);
    const positions = entries.flatMap((one) => ('match' in one ? [one.position] : []));
    return readFacts(database, accountId, positions).then(decideWith);
  };

  const viewUngrouped = (accountId: string, entries: readonly LogEntry[], wanted: Wanted) => {
    const account = accountOf(accountId);
    return account instanceof Promise
      ? account.then((loaded) => decide(accountId, entries, wanted, loaded))
      : decide(accountId, entries, wanted, account);
  };

  const group = async (
    accountId: string,
    seen: Viewed,
    { range, view }: { readonly range: StoryRange; readonly view: View },
  ): Promise<Viewed> => {
    const account = await accountOf(accountId);
    const hides = account.mutes.length > 0 || (account.hasFacts && view.relevance !== 'all');
    const firstShown = async (positions: readonly number[]) => {
      const found = await findMatches(database.forAccount(accountId), accountId, positions);
      const facts = account.hasFacts ? await readFacts(database, accountId, positions) : noFacts;
      const isShown = ({ position, ruleId, payload }: (typeof found)[number]) =>
        muteOf(account.mutes, { rule_id: ruleId, payload }) === null &&
        decisionOf({ position, match: { rule_id: ruleId, created_at: '' } }, facts.get(position), {
          view: { ...view, waits: false },
          account,
          nowMs: nowMs(),
        }) === 'show';
      const shown = new Set(found.filter(isShown).map(({ position }) => position));
      return positions.find((position) => shown.has(position)) ?? null;
    };
    const grouped = await groupStories(seen.entries, { database, accountId, range, hides, firstShown });
    const inStory = grouped.inStory.map((position) => ({ position, by: 'in_story' }) as const);
    const hiddenAt = [...seen.hiddenAt, ...inStory];
    return { ...seen, entries: grouped.entries, hiddenAt, hidden: countHidden(hiddenAt) };
  };

  return {
    /** A promise only if something must be read. If nothing is hidden, the entries are the same array. */
    view(accountId: string, entries: readonly LogEntry[], wanted: Wanted): Viewed | Promise<Viewed> {
      if (entries.length === 0) return showAll(entries);
      const seen = viewUngrouped(accountId, entries, wanted);
      const { view } = wanted;
      if (!view.stories) return seen;
      const range = view.stories;
      return Promise.resolve(seen).then((shown) => group(accountId, shown, { range, view }));
    },
    /** Whether the account can have matches that are hidden. */
    async hides(accountId: string, relevance: RelevanceFilter): Promise<boolean> {
      const { mutes, hasFacts } = await accountOf(accountId);
      return mutes.length > 0 || (hasFacts && relevance !== 'all');
    },
    /** After a change on this node, which must see it at once. */
    forget: (accountId: string) => void kept.delete(accountId),
  };
}

const nothingHidden: HiddenMatches = { muted: 0, not_relevant: 0 };
const noPositions: readonly HiddenEntry[] = [];

/** What is seen of an account without labels and mutes. */
export function showAll(entries: readonly LogEntry[]): Viewed {
  return {
    entries,
    hidden: nothingHidden,
    hiddenAt: noPositions,
    through: entries.at(-1)?.position ?? null,
    waitsUntil: null,
  };
}

interface DecideOptions {
  readonly view: View;
  readonly account: AccountRelevance;
  readonly facts: ReadonlyMap<number, Fact>;
  readonly nowMs: number;
}

/** Pure: what is shown, in order, up to the first entry that waits for a verdict. */
function decideAll(entries: readonly LogEntry[], options: DecideOptions): Viewed {
  const { view, account, facts } = options;
  const isPlain = account.mutes.length === 0 && facts.size === 0 && view.relevance === 'all';
  if (isPlain && view.hidden !== 'only') return showAll(entries);
  const hiddenAt: HiddenEntry[] = [];
  const shown: LogEntry[] = [];
  let through: number | null = null;
  let waitsUntil: Date | null = null;
  let isChanged = false;
  for (const entry of entries) {
    if (!('match' in entry)) {
      if (view.hidden !== 'only') shown.push(entry);
      through = entry.position;
      continue;
    }
    const fact = facts.get(entry.position);
    const mutedBy = muteOf(account.mutes, entry.match);
    const decision = mutedBy === null ? decisionOf(entry, fact, options) : 'muted';
    if (typeof decision === 'object') {
      waitsUntil = decision.waitsUntil;
      break;
    }
    through = entry.position;
    if (decision !== 'show') hiddenAt.push({ position: entry.position, by: decision });
    isChanged ||= decision !== 'show' || fact !== undefined;
    if (view.hidden === 'include' || (decision === 'show') === (view.hidden === 'exclude'))
      shown.push(marked(entry, fact, mutedBy));
  }
  const isWhole = !isChanged && shown.length === entries.length;
  return {
    entries: isWhole ? entries : shown,
    hidden: countHidden(hiddenAt),
    hiddenAt,
    through,
    waitsUntil,
  };
}

function decisionOf(
  { position, match }: { readonly position: number; readonly match: Pick<Match, 'rule_id' | 'created_at'> },
  fact: Fact | undefined,
  { view: { relevance, waits }, account, nowMs }: Omit<DecideOptions, 'facts'>,
): 'show' | 'not_relevant' | { readonly waitsUntil: Date } {
  if (relevance === 'all') return 'show';
  if (fact?.label) return fact.label === 'relevant' ? 'show' : 'not_relevant';
  const judged = account.judged.get(match.rule_id);
  if (!judged) return 'show';
  if (!fact?.verdict) {
    const untilMs = Date.parse(match.created_at) + verdictWaitMs;
    const isWaiting = waits && (judged.hidesUnproven || judged.isProven);
    return isWaiting && position > judged.through && untilMs > nowMs
      ? { waitsUntil: new Date(untilMs) }
      : 'show';
  }
  if (!judged.isProven && !judged.hidesUnproven) return 'show';
  const isHidden = fact.verdict === 'not_relevant' || (fact.verdict === 'unsure' && relevance === 'relevant');
  return isHidden ? 'not_relevant' : 'show';
}

/** The match with what is known of it. A copy: other readers have the same match. */
function marked(entry: MatchEntry, fact: Fact | undefined, mutedBy: string | null): MatchEntry {
  const relevance = relevanceOf(fact);
  if (!relevance && mutedBy === null) return entry;
  return {
    position: entry.position,
    match: {
      ...entry.match,
      ...(relevance && { relevance }),
      ...(mutedBy !== null && { muted_by: mutedBy }),
    },
  };
}

function relevanceOf(fact: Fact | undefined): Match['relevance'] {
  if (fact?.label) return { verdict: fact.label, by: 'label', reason: fact.note, intent_version: null };
  if (!fact?.verdict) return undefined;
  return { verdict: fact.verdict, by: 'judge', reason: fact.reason, intent_version: fact.intentVersion };
}

/** A match that is requested by its id is always shown, with its marks. */
export async function markOne(views: Pick<Views, 'view'>, accountId: string, match: Match): Promise<Match> {
  const position = positionOf(match.id) ?? 0;
  const view = { relevance: 'all', hidden: 'include', waits: false } as const;
  const { entries } = await views.view(accountId, [{ position, match }], { view, marks: true });
  const [one] = entries;
  return one && 'match' in one ? one.match : match;
}
