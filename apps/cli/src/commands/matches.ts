import type { Removal } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { type CommandGroup, command } from '../command.ts';
import { followFrom, noticingFetch } from '../follow.ts';
import {
  cursor,
  groupBy,
  integer,
  oneOf,
  platformFilter,
  relevanceFilter,
  required,
  ruleFilter,
  text,
  time,
  timeOrNow,
} from '../options.ts';
import { countsText } from '../output/counts-text.ts';
import { matchLine } from '../output/match-line.ts';
import { matchText } from '../output/match-text.ts';
import { matchesText } from '../output/matches-text.ts';
import { jsonLine } from '../output/printable.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';
import { exportMatches } from './matches-export.ts';
import { relevanceCommands } from './relevance.ts';

const list = apiCommand({
  name: 'list',
  summary: 'list stored matches, newest first',
  details:
    'Matching words are bold yellow. The item does not decide a clause with a question mark. With --rule or --platform, the last lines show up to which time the list is complete, and the gaps.',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    limit: integer('<n>', 'entries (default 50)', { min: 1, max: 100 }),
    from: time('only matches from this time on', 'past'),
    to: time('only matches before this time', 'past'),
    query: text('<words>', 'only matches whose text, title, address or author has all of these words'),
    relevance: relevanceFilter,
    hidden: oneOf(
      ['exclude', 'include', 'only'],
      'matches that a mute or --relevance hides: count them, list them too, or list only them (default exclude)',
    ),
    group: groupBy,
    story: text('<story id>', 'only matches of this story, as --group shows its id'),
    order: oneOf(['newest', 'oldest'], 'which end to start from (default newest)'),
    cursor,
  },
  examples: [
    'earshot matches list --limit 10',
    'earshot matches list --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p --from 2h',
    'earshot matches list --group story --limit 10',
    `earshot matches list --json | jq -r '.matches[].payload.url'`,
  ],
  doing: 'Listing matches',
  call: (earshot, { options: { rule, story, ...rest } }) =>
    earshot.listMatches({ rule_id: rule, story_id: story, ...rest }),
  // Hidden matches that are listed need no line that says where they are.
  show: (answer, screen, { options: { hidden = 'exclude' } }) =>
    matchesText(hidden === 'exclude' ? answer : { ...answer, hidden: undefined }, screen),
});

const get = apiCommand({
  name: 'get',
  summary: 'show one match',
  args: { match: required(text('<match id>', 'as `earshot matches list --json` shows it')) },
  examples: ['earshot matches get mat_0000000002rs'],
  doing: 'Reading the match',
  call: (earshot, { args }) => earshot.getMatch({ match_id: args.match }),
  show: matchText,
});

const hourMs = 3_600_000;

const count = apiCommand({
  name: 'count',
  summary: 'count stored matches by time',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    from: time('count from this time on (default: 24h)', 'past'),
    to: timeOrNow('count up to this time (default: now)'),
    step: integer('<seconds>', 'length of a step (default 3600); at most 500 steps', {
      min: 1,
      max: 315_360_000,
    }),
    by: oneOf(['rule', 'platform'], 'one line per rule or platform (default: one line per step)'),
  },
  examples: ['earshot matches count', 'earshot matches count --by rule --from 7d --step 86400'],
  doing: 'Counting matches',
  call: (earshot, { options: { rule, to, from, step = 3_600, ...rest } }) =>
    earshot.countMatches({
      rule_id: rule,
      from: from ?? new Date(Date.parse(to) - 24 * hourMs).toISOString(),
      to,
      step,
      ...rest,
    }),
  show: countsText,
});

const tail = command({
  name: 'tail',
  summary: 'show matches as they arrive',
  details: 'Continues after interruptions. A removed match is a separate line.',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    relevance: relevanceFilter,
    from: time('start with the matches from this time on (default: now)', 'past'),
    limit: integer('<n>', 'stop after this many (default: never)', { min: 1, max: 999_999_999 }),
  },
  aboutJson: 'one line of JSON per match; for a removed match, {"type":"removed","match_id":…}',
  examples: [
    'earshot matches tail',
    'earshot matches tail --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p --from 10m',
    `earshot matches tail --json | jq -r '.payload.text // empty'`,
  ],
  async run({ options }, { connect, isJson, screen }) {
    const { signal } = listenForStop();
    const earshot = await connect({ fetch: noticingFetch(screen.note) });
    const { rule, platform, relevance, from, limit = Number.POSITIVE_INFINITY } = options;
    const filter = { rule_id: rule, platform, relevance };
    if (screen.isInteractive) screen.note('Waiting for matches. Press Ctrl+C to stop.');
    const onRemoved = (removal: Removal) =>
      screen.print(isJson ? jsonLine(removal) : `${removal.match_id} is removed: ${removal.reason}`);
    const following = { filter, from, signal, note: screen.note, onRemoved };
    let shown = 0;
    try {
      for await (const match of followFrom(earshot, following)) {
        screen.print(isJson ? jsonLine(match) : matchLine(match, screen));
        shown += 1;
        if (shown >= limit) return 0;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return exitCodeOfStop(signal);
  },
});

export const matches: CommandGroup = {
  name: 'matches',
  summary: 'list, show, count, follow, export, label and mute matches',
  commands: [list, get, count, tail, exportMatches, ...relevanceCommands],
};
