import { type Budget, budgetGrammar, parseBudget, parseTrial, trialGrammar } from '@earshot/contract/budgets';
import { allPlatforms as platforms } from '@earshot/contract/platforms';
import { parseTime, type TimeDirection, timeGrammar } from '@earshot/contract/times';
import type { Option } from './command.ts';
import { usageFailure } from './failure.ts';

/** The kinds of options. The program puts the option's name before the messages of `read`. */

export function flag(about: string): Option<boolean> {
  return { about, read: (text) => text !== undefined };
}

export function text(placeholder: string, about: string): Option<string | undefined> {
  return value(placeholder, about, (given) => given);
}

/** An option with a value, which `parse` checks if it is given. */
function value<Value>(
  placeholder: string,
  about: string,
  parse: (given: string, now: Date) => Value,
): Option<Value | undefined> {
  const read = (given?: string, now = new Date()) => (given === undefined ? undefined : parse(given, now));
  return { about, placeholder, read };
}

export function integer(placeholder: string, about: string, { min, max }: { min: number; max: number }) {
  return value(placeholder, about, (given) => {
    const number = Number(given);
    if (/^\d{1,9}$/.test(given) && number >= min && number <= max) return number;
    throw usageFailure(`takes a whole number from ${min} to ${max}, not "${given}".`);
  });
}

export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  about: string,
  placeholder = `<${choices.join('|')}>`,
) {
  const option = value(placeholder, about, (given) => {
    const found = choices.find((choice) => choice === given);
    if (found === undefined) throw usageFailure(`takes ${choices.join(' or ')}, not "${given}".`);
    return found;
  });
  return { ...option, choices };
}

/** Names separated by commas. Spaces and repetitions are allowed. */
export function listOf<const Choice extends string>(
  choices: readonly Choice[],
  about: string,
  placeholder: string,
) {
  return value(placeholder, about, (given) => {
    const names = given.split(/[\s,]+/).filter(Boolean);
    const unknown = names.find((name) => !choices.some((choice) => choice === name));
    if (unknown !== undefined || names.length === 0)
      throw usageFailure(`takes any of ${choices.join(', ')}, not "${unknown ?? given}".`);
    return choices.filter((choice) => names.includes(choice));
  });
}

/** A timestamp for the API, from a day, a time, or a duration before or after now. */
export function time(about: string, direction: TimeDirection) {
  const example = direction === 'past' ? '10m, 2h, 3d (ago)' : '2h, 30d (from now)';
  const option = value('<time>', about, (given, now) => readTime(given, direction, now));
  return { ...option, format: `${example}, 2027-01-31 or 2027-01-31T12:00:00Z` };
}

/** A time in the past; by default now. */
export function timeOrNow(about: string): Option<string> {
  const option = time(about, 'past');
  return { ...option, read: (given, now = new Date()) => option.read(given, now) ?? now.toISOString() };
}

export function readTime(given: string, direction: TimeDirection, now: Date): string {
  const read = parseTime(given, direction, now);
  if (read === null) throw usageFailure(`takes a time such as ${timeGrammar}, not "${given}".`);
  if (direction === 'future' && new Date(read) <= now)
    throw usageFailure(`takes a time in the future: ${given} has passed.`);
  return read;
}

/** A budget: `usd=5/day`. */
export const budget = (about: string) => ({
  ...value('<budget>', about, readBudget),
  format: budgetGrammar,
});

/** A budget, or `none`, which is null. */
export const budgetOrNone = (about: string) => ({
  ...value('<budget>', `${about}, or none for no limit`, (given) =>
    given === 'none' ? null : readBudget(given),
  ),
  format: budgetGrammar,
});

function readBudget(given: string): Budget {
  const read = parseBudget(given);
  if (read === null) throw usageFailure(`takes a budget such as ${budgetGrammar}, not "${given}".`);
  return read;
}

/** The limits of a trial: `30m,matches=50`. */
export const trial = (about: string) => ({
  ...value('<trial>', about, (given) => {
    const read = parseTrial(given);
    const most = 'a time up to 24h and up to 10000 matches';
    if (read === null) throw usageFailure(`takes ${most}, such as ${trialGrammar}, not "${given}".`);
    return read;
  }),
  format: trialGrammar,
});

/** An amount of money, or `none`, which is null. */
export function usdOrNone(about: string) {
  return value('<usd>', `${about}, or none for no limit`, (given) => {
    if (given === 'none') return null;
    const amount = Number(given);
    if (/^\d{1,5}(\.\d{1,6})?$/.test(given) && amount > 0) return amount;
    throw usageFailure(`takes an amount in USD such as 0.5, not "${given}".`);
  });
}

export function required<Value>(option: Option<Value | undefined>): Option<Value> {
  const read = (given?: string, now?: Date) => {
    const found = option.read(given, now);
    if (found === undefined || found === '') throw usageFailure('is required.');
    return found;
  };
  return { ...option, isRequired: true, read };
}

/** Every command has these, and `--help`. */
export const commonOptions = (aboutJson = 'the answer as JSON on stdout, an error as JSON on stderr') => ({
  json: flag(aboutJson),
  'no-color': flag('no colours, as with NO_COLOR or when the output is a file or pipe'),
});

/** Options that several commands share. */
export const platformFilter = oneOf(platforms, 'only this platform');
export const ruleFilter = text('<rule id>', 'only this rule, as `earshot rules list` shows it');
/** Rules of a webhook or digest. */
export const ruleFilters = {
  ...value(
    '<rule id>',
    'only this rule, as `earshot rules list` shows it; may be given several times',
    (given) => given.split(',').map((id) => id.trim()),
  ),
  isRepeatable: true,
};
/** The same in lists. */
export const rulesText = (ruleIds: readonly string[] | null) => ruleIds?.join(', ') ?? 'any';
export const ruleId = required(text('<rule id>', 'as `earshot rules list` shows it'));
export const webhookId = required(text('<webhook id>', 'as `earshot webhooks list` shows it'));
export const groupBy = oneOf(['story'], 'list each story once, with the number of its matches');

export const relevanceFilter = oneOf(
  ['all', 'not_irrelevant', 'relevant'],
  'leave out what is not relevant by label or judge; "relevant" also leaves out what the judge is unsure of (default all)',
);
export const pageLimit = integer('<n>', 'entries (default 100)', { min: 1, max: 100 });
export const cursor = text('<cursor>', '`next_cursor` of the previous answer');
