import type { Answers } from '@earshot/sdk';
import type { StatusKind } from '../../parts/status-kind.ts';
import type { Interval } from './intervals.ts';

export type Source = Answers['ListSources']['sources'][number];

/** Describes each state of a source to the user. */
export const sourceStateWords: Readonly<Record<Source['state'], string>> = {
  starting: 'Connecting for the first time',
  live: 'Receiving',
  reconnecting: 'The connection broke; reconnecting',
  failing: 'The platform answers with errors',
  rate_limited: 'Too many attempts to connect',
  connection_in_use: 'Another client uses the connection that the platform allows',
  no_rules: 'No active rules',
  rules_invalid: 'The platform cannot use the rules that it stores',
  provisioning: 'The platform is still setting up the plan or app',
  no_credit: 'The prepaid credit is used up',
  spend_cap: 'The spending limit at the platform is reached',
  usage_cap: 'The usage limit of the platform plan is reached',
  budget: "The operator's spending limit is reached",
  credentials: 'The platform does not accept the token',
  bad_request: "The platform rejects Earshot's requests as invalid",
  degraded: 'The account at the platform is not allowed to stream',
  log_unavailable: 'The event log does not accept events',
  stopped: 'No node runs the source',
};

export function statusOf(state: Source['state']): StatusKind {
  if (state === 'live') return 'good';
  return idleStates.has(state) ? 'idle' : 'bad';
}

const idleStates: ReadonlySet<Source['state']> = new Set([
  'starting',
  'reconnecting',
  'no_rules',
  'provisioning',
  'stopped',
]);

/** The reasons of gaps that are not states of a source. */
const gapWords: Readonly<Record<string, string>> = {
  dropped: 'The connection broke',
  stalled: 'The connection stopped sending data',
  finished: 'The platform ended the stream as planned',
  unreachable: 'The platform could not be reached',
  displaced: 'Another client took over the connection',
  slow_reader: 'The platform ended the stream because Earshot read it too slowly',
  log_lost: 'Received events were lost before they were matched',
  not_listening_yet: 'Earshot was not connected yet',
  process_died: 'The receiving process crashed',
  rule_missing: 'The rule was not registered on the platform',
  not_registered: 'The rule is not registered on the platform',
  refused: 'The platform refuses the rule',
};

/** Describes the reason of a gap. A reason that this version does not know is shown as it is. */
export function reasonWords(reason: string | null): string {
  if (reason === null) return 'Reason unknown';
  return ownEntry(gapWords, reason) ?? ownEntry(sourceStateWords, reason) ?? reason.replaceAll('_', ' ');
}

function ownEntry(words: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(words, key) ? words[key] : undefined;
}

const viaWords = {
  replay: 'Repaired by a replay',
  recovery: 'Repaired by a recovery request',
  search: 'Repaired by a search',
} as const;

const repairReasonWords: Readonly<Record<string, string>> = {
  budget_exhausted: 'the daily limit for searches is reached',
  too_old_to_search: 'the platform no longer finds posts of that time',
  search_refused: 'the platform refused the search',
  some_rules_not_repairable: 'the search does not support some of the rules',
  started_over: 'the search was restarted',
  value_too_long_to_search: 'the query is too long for the search',
};

const fidelityWords: Readonly<Record<string, string>> = {
  retweets_missing: 'without reposts',
  deleted_posts_missing: 'without deleted posts',
  quoted_text_not_searched: 'without matches in quoted text',
  accents_ignored: 'accents were ignored',
};

/** Describes the repair of a gap, in one sentence without a full stop. */
export function repairWords(interval: Interval): string {
  const { repair, state, to } = interval;
  if (repair === null) return state === 'gap' && to === null ? 'Ongoing' : 'Not repaired yet';
  const because = repair.reason === null ? '' : `: ${inWords(repairReasonWords, repair.reason)}`;
  if (repair.state === 'impossible') return `Cannot be repaired${because}`;
  if (repair.state === 'waiting') return `Repair pending${because}`;
  const how = repair.via === null ? 'Repaired' : viaWords[repair.via];
  const found = repair.matches === null ? [] : [`${repair.matches} found`];
  const limits = repair.fidelity.map((one) => inWords(fidelityWords, one));
  // The limits depend on the query, so only the coverage of a rule has them.
  if (repair.via === 'search' && limits.length === 0) limits.push('not every post can be found');
  return [how, ...found, ...limits].join(', ');
}

function inWords(words: Readonly<Record<string, string>>, code: string): string {
  const operator = /^no_search_for_(.+)$/.exec(code)?.[1];
  if (operator !== undefined) return `the search does not support ${operator}`;
  return ownEntry(words, code) ?? code.replaceAll('_', ' ');
}

export const stateWords: Readonly<Record<Interval['state'], string>> = {
  live: 'Covered',
  repaired: 'Repaired gap',
  gap: 'Gap',
  starting: 'Starting',
  not_watched: 'Not active',
};
