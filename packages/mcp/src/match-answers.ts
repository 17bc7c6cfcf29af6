import { integer } from '@earshot/contract';
import { EarshotError, type Match } from '@earshot/sdk';
import { z } from 'zod';
import { type MatchPage, maxTokensMin } from './content/answer-matches.ts';
import { answerPage } from './content/answer-page.ts';
import type { RuleNames } from './content/legend.ts';
import { explainSilence } from './silence.ts';
import { InvalidArguments, type ToolCall } from './tool.ts';

export const maxTokens = integer(maxTokensMin, 20_000)
  .default(5_000)
  .meta({ description: 'Estimated size limit of the answer; the rest is left for the next call' });

export const expand = z.array(z.string()).max(10).default([]).meta({
  description: 'Ids (mat_…) of the last answer to show in full, alone; other arguments as before',
});

export interface MatchesRequest {
  readonly limit: number;
  readonly max_tokens: number;
  readonly expand: readonly string[];
  readonly rule_id?: string | undefined;
  readonly query?: string | undefined;
}

export interface MatchesSource {
  readonly request: MatchesRequest;
  readonly cursorField: 'next_cursor' | 'ack';
  readonly narrowed: boolean;
  /** Set for a named reader. */
  readonly reader?: string;
  /** Reads the page with at most this many matches. Only the first call may wait. */
  readonly read: (limit: number) => Promise<MatchPage>;
  /** The pages that are searched for matches to expand. */
  readonly pages: () => AsyncIterable<MatchPage>;
}

/** Matches as a text. If there are none, the text explains why. */
export async function answerWithMatches(source: MatchesSource, call: ToolCall): Promise<{ text: string }> {
  const { request, cursorField } = source;
  const bounds = { maxTokens: request.max_tokens, cursorField };
  if (request.expand.length > 0) {
    const page = await findExpanded(source);
    const only = (limit: number) => Promise.resolve({ ...page, matches: page.matches.slice(0, limit) });
    return await answerPage({ ...bounds, form: 'full', read: only, limit: page.matches.length });
  }
  const { limit } = request;
  const first = await source.read(limit);
  const { matches } = first;
  const own = await ownLines(source, first, call);
  const ruleNames = await namesOfRules(matches, call);
  const read = (count: number) => (count === limit ? Promise.resolve(first) : source.read(count));
  return await answerPage({ ...bounds, form: 'lines', read, limit, own, ruleNames });
}

async function ownLines(source: MatchesSource, page: MatchPage, call: ToolCall): Promise<string[]> {
  const { matches, removed = [], hidden, cursor } = page;
  if (matches.length > 0 || removed.length > 0) return [...hiddenLines(hidden), ...removalLines(removed)];
  if (hidden) return hiddenLines(hidden);
  // Only a search has a page without matches that is not the last one.
  if (source.request.query === undefined || cursor === null) return await silence(source, page, call);
  return ['None among the matches that were searched. Call again with next_cursor to search older ones.'];
}

async function silence(
  { request, narrowed, reader }: MatchesSource,
  { coverage }: MatchPage,
  call: ToolCall,
) {
  const silent = { ruleId: request.rule_id, coverage, narrowed, reader };
  const { why, try_next } = await explainSilence(call, silent, Date.now());
  return [...why, `Next: ${try_next}`];
}

function hiddenLines(hidden: MatchPage['hidden']): string[] {
  if (!hidden) return [];
  const { muted, not_relevant, in_story } = hidden;
  const left = `Hidden: ${muted} muted, ${not_relevant} not relevant; list_matches with hidden "only" shows them.`;
  return [
    ...(muted + not_relevant > 0 ? [left] : []),
    ...(in_story ? [`Left out: ${in_story} more matches of these stories.`] : []),
  ];
}

/** Leaves room for matches. */
const removalsShownMax = 10;

/** Ids and reasons are Earshot's own words. */
function removalLines(removed: NonNullable<MatchPage['removed']>): string[] {
  if (removed.length === 0) return [];
  const shown = removed.slice(0, removalsShownMax).map(({ match_id, reason }) => `${match_id} (${reason})`);
  const more = removed.length > shown.length ? [`and ${removed.length - shown.length} more`] : [];
  return [`Removed, do not use or repeat their content: ${[...shown, ...more].join(', ')}.`];
}

const rulesListedMax = 100;

/** Makes one request. If the page has matches of several rules, only the newest rules of the account get names. */
async function namesOfRules(matches: readonly Match[], { earshot, signal }: ToolCall): Promise<RuleNames> {
  const [id, ...others] = new Set(matches.map(({ rule_id }) => rule_id));
  if (id === undefined) return new Map();
  try {
    const rules =
      others.length === 0
        ? [await earshot.getRule({ rule_id: id }, { signal })]
        : (await earshot.listRules({ limit: rulesListedMax }, { signal })).rules;
    return new Map(rules.map(({ id: ruleId, name }) => [ruleId, name]));
  } catch (error) {
    // The key may lack the scope for rules, and the rule may have been deleted in the meantime.
    if (error instanceof EarshotError) return new Map();
    throw error;
  }
}

/** The matches to expand. They are not a page, so there is no cursor. */
async function findExpanded({ request, pages }: MatchesSource): Promise<MatchPage> {
  const missing = new Set(request.expand);
  const found: Match[] = [];
  for await (const page of pages()) {
    for (const match of page.matches) if (missing.delete(match.id)) found.push(match);
    if (missing.size === 0) break;
  }
  if (missing.size === 0) return { matches: found, cursor: null, coverage: null };
  const message = `${[...missing].map((id) => JSON.stringify(id.slice(0, 40))).join(', ')}: not among these matches. Repeat the call that showed it, with expand.`;
  throw new InvalidArguments([{ field: 'expand', code: 'not_found', message }]);
}
