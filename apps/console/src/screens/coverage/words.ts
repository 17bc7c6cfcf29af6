import type { Answers } from '@earshot/sdk';
import type { StandingKind } from '../../parts/standing-kind.ts';
import type { Interval } from './intervals.ts';

export type Source = Answers['ListSources']['sources'][number];

/** What each state of a source means, for people. */
export const sourceStateWords: Readonly<Record<Source['state'], string>> = {
  starting: 'Connecting for the first time',
  live: 'Listening',
  reconnecting: 'The connection broke and is being opened again',
  failing: 'The platform answers with errors',
  rate_limited: 'Too many attempts to connect',
  connection_in_use: 'The platform counts another connection as ours',
  no_rules: 'Nothing to listen for',
  rules_invalid: 'The platform cannot use the rules that it stores',
  provisioning: 'The platform is still setting up the plan or app',
  no_credit: 'The prepaid credit is used up',
  spend_cap: 'The spending limit set at the platform is reached',
  usage_cap: 'The usage that the plan allows is used up',
  budget: 'The spending limit set by the operator is reached',
  credentials: 'The platform does not accept the token',
  bad_request: 'The platform rejects our requests as invalid',
  degraded: 'The account at the platform is in a state that allows no stream',
  log_unavailable: 'The event log accepts no events',
  stopped: 'No node is running the source',
};

export function standingOf(state: Source['state']): StandingKind {
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

/** Only what is a reason of a gap and no state of a source. */
const gapWords: Readonly<Record<string, string>> = {
  dropped: 'The connection broke',
  stalled: 'The connection went silent',
  finished: 'The platform ended the stream as planned',
  unreachable: 'The platform could not be reached',
  displaced: 'Another connection ended ours',
  slow_reader: 'The platform ended the stream because it was read too slowly',
  log_lost: 'Received events were lost before they were matched',
  not_listening_yet: 'No connection had been opened yet',
  process_died: 'The listening process died',
  rule_missing: 'The rule was not registered at the platform',
  not_registered: 'The rule is not registered at the platform',
  refused: 'The platform refuses the rule',
};

/** The reason of a gap. One that is newer than this page is shown as it is. */
export function reasonWords(reason: string | null): string {
  if (reason === null) return 'Reason unknown';
  return ownEntry(gapWords, reason) ?? ownEntry(sourceStateWords, reason) ?? reason.replaceAll('_', ' ');
}

function ownEntry(words: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(words, key) ? words[key] : undefined;
}

const viaWords = {
  replay: 'Delivered again',
  recovery: 'Delivered again on request',
  search: 'Fetched by a search',
} as const;

const repairReasonWords: Readonly<Record<string, string>> = {
  budget_exhausted: 'the daily limit for searches is reached',
  too_old_to_search: 'the platform no longer finds posts of that time',
  search_refused: 'the platform refused the search',
  some_rules_not_repairable: 'some rules cannot be searched for',
  started_over: 'the search was started again',
  value_too_long_to_search: 'the value is too long for the search',
};

const fidelityWords: Readonly<Record<string, string>> = {
  retweets_missing: 'without reposts',
  deleted_posts_missing: 'without posts deleted meanwhile',
  quoted_text_not_searched: 'without matches in quoted text',
  accents_ignored: 'accents were ignored',
};

/** What was done about a gap, in one sentence without a full stop. */
export function repairWords(interval: Interval): string {
  const { repair, state, to } = interval;
  if (repair === null) return state === 'gap' && to === null ? 'Not over yet' : 'Not fetched yet';
  const because = repair.reason === null ? '' : `: ${inWords(repairReasonWords, repair.reason)}`;
  if (repair.state === 'impossible') return `Cannot be fetched${because}`;
  if (repair.state === 'waiting') return `Will be fetched${because}`;
  const how = repair.via === null ? 'Fetched' : viaWords[repair.via];
  const found = repair.matches === null ? [] : [`${repair.matches} found`];
  const limits = repair.fidelity.map((one) => inWords(fidelityWords, one));
  return [how, ...found, ...limits].join(', ');
}

function inWords(words: Readonly<Record<string, string>>, code: string): string {
  const operator = /^no_search_for_(.+)$/.exec(code)?.[1];
  if (operator !== undefined) return `the search does not support ${operator}`;
  return ownEntry(words, code) ?? code.replaceAll('_', ' ');
}

export const stateWords: Readonly<Record<Interval['state'], string>> = {
  live: 'Heard',
  repaired: 'Gap, fetched since',
  gap: 'Gap',
  starting: 'Starting',
  not_watched: 'Not watched',
};
