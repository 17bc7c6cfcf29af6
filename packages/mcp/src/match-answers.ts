import { integer } from '@earshot/contract';
import type { Match } from '@earshot/sdk';
import { z } from 'zod';
import { type MatchesAnswer, type MatchPage, maxTokensMin, type OwnWords } from './content/answer-matches.ts';
import { answerPage } from './content/answer-page.ts';
import { explainSilence } from './silence.ts';
import { InvalidArguments, type ToolAnswer, type ToolCall } from './tool.ts';

export const maxTokens = integer(maxTokensMin, 20_000)
  .default(5_000)
  .meta({ description: 'Bounds the answer, by an estimate; what does not fit is left for the next call' });

export const expand = z.array(z.string()).max(10).default([]).meta({
  description: 'Ids (mat_…) of the last answer to show in full, alone; other arguments as before',
});

export interface MatchesAsked {
  readonly limit: number;
  readonly max_tokens: number;
  readonly expand: readonly string[];
  readonly rule_id?: string | undefined;
}

export interface MatchesSource {
  readonly asked: MatchesAsked;
  readonly cursorField: 'next_cursor' | 'ack';
  readonly narrowed: boolean;
  /** The page again, with at most so many matches. Only the first call may wait. */
  readonly read: (limit: number) => Promise<MatchPage>;
  /** Where matches to expand are looked for: a page, and what comes behind it. */
  readonly pages: () => AsyncIterable<MatchPage>;
}

/** Matches as a tool result; when there are none, with what is known about why. */
export async function answerWithMatches(source: MatchesSource, call: ToolCall): Promise<ToolAnswer> {
  const { asked, cursorField } = source;
  const bounds = { maxTokens: asked.max_tokens, cursorField };
  if (asked.expand.length > 0) {
    const page = await findExpanded(source);
    const only = (limit: number) => Promise.resolve({ ...page, matches: page.matches.slice(0, limit) });
    const limit = page.matches.length;
    return toToolAnswer(await answerPage({ ...bounds, read: only, limit, expand: asked.expand }));
  }
  const { limit } = asked;
  const first = await source.read(limit);
  const { matches, removed = [] } = first;
  const isSilent = matches.length === 0 && removed.length === 0;
  const own = isSilent ? await silence(source, first, call) : toldRemovals(removed);
  const read = (count: number) => (count === limit ? Promise.resolve(first) : source.read(count));
  return toToolAnswer(await answerPage({ ...bounds, read, limit, ...(own && { own }) }));
}

function toToolAnswer(answer: MatchesAnswer): ToolAnswer {
  return { structured: answer.structuredContent, text: answer.text };
}

async function silence({ asked, narrowed }: MatchesSource, { coverage }: MatchPage, call: ToolCall) {
  const silent = { ruleId: asked.rule_id, coverage, narrowed };
  const explained = await explainSilence(call, silent, Date.now());
  return {
    fields: { nothing: explained },
    lines: [...explained.why, `Next: ${explained.try_next}`],
  };
}

/** Of these at most, so that matches have room beside them. */
const removalsShownMax = 10;

/** Ids and reasons are the service's own words. */
function toldRemovals(removed: NonNullable<MatchPage['removed']>): OwnWords | undefined {
  if (removed.length === 0) return undefined;
  const shown = removed.slice(0, removalsShownMax).map(({ match_id, reason }) => `${match_id} (${reason})`);
  const more = removed.length > shown.length ? [`and ${removed.length - shown.length} more`] : [];
  const told = [...shown, ...more];
  return {
    fields: { removed: told },
    lines: [`Taken back, do not use or repeat what they said: ${told.join(', ')}.`],
  };
}

/** The matches to expand, without a cursor: they are no page, so nothing continues behind them. */
async function findExpanded({ asked, pages }: MatchesSource): Promise<MatchPage> {
  const missing = new Set(asked.expand);
  const found: Match[] = [];
  for await (const page of pages()) {
    for (const match of page.matches) if (missing.delete(match.id)) found.push(match);
    if (missing.size === 0) break;
  }
  if (missing.size === 0) return { matches: found, cursor: null, coverage: null };
  const message = `${[...missing].map((id) => JSON.stringify(id.slice(0, 40))).join(', ')}: not among these matches. Send the arguments of the answer that showed it, and expand.`;
  throw new InvalidArguments([{ field: 'expand', code: 'not_found', message }]);
}
