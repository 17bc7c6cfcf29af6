import {
  type Budget,
  budgetGrammar,
  parseBudget,
  parseTrial,
  type Trial,
  trialGrammar,
} from '@earshot/contract/budgets';
import { platforms } from '@earshot/contract/platforms';
import { parseTime, type TimeDirection, timeGrammar } from '@earshot/contract/times';
import type { Option } from './command.ts';
import { usageFailure } from './failure.ts';

/** The kinds of values that commands take. What `read` complains about begins with the name of the option. */

export function flag(about: string): Option<boolean> {
  return { about, read: (text) => text !== undefined };
}

export function text(placeholder: string, about: string): Option<string | undefined> {
  return { about, placeholder, read: (given) => given };
}

export function integer(
  placeholder: string,
  about: string,
  { min, max }: { min: number; max: number },
): Option<number | undefined> {
  return {
    about,
    placeholder,
    read: optional((given) => {
      const value = Number(given);
      if (/^\d{1,9}$/.test(given) && value >= min && value <= max) return value;
      throw usageFailure(`takes a whole number from ${min} to ${max}, not "${given}".`);
    }),
  };
}

export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  about: string,
  placeholder = `<${choices.join('|')}>`,
): Option<Choice | undefined> {
  return {
    about,
    placeholder,
    choices,
    read: optional((given) => {
      const found = choices.find((choice) => choice === given);
      if (found === undefined) throw usageFailure(`takes ${choices.join(' or ')}, not "${given}".`);
      return found;
    }),
  };
}

/** Names with commas between them; spaces and repetitions do no harm. */
export function listOf<const Choice extends string>(
  choices: readonly Choice[],
  about: string,
  placeholder: string,
): Option<Choice[] | undefined> {
  return {
    about,
    placeholder,
    read: optional((given) => {
      const names = given
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean);
      if (names.length === 0) throw usageFailure(`takes any of ${choices.join(', ')}.`);
      return [...new Set(names)].map((name) => {
        const found = choices.find((choice) => choice === name);
        if (found === undefined) throw usageFailure(`takes any of ${choices.join(', ')}, not "${name}".`);
        return found;
      });
    }),
  };
}

/** A point in time as the API takes it: a day, a time, or how long ago or from now. */
export function time(about: string, direction: TimeDirection): Option<string | undefined> {
  const placeholder = '<time>';
  const example = direction === 'past' ? '10m, 2h, 3d (ago)' : '2h, 30d (from now)';
  return {
    about: `${about}: ${example}, 2027-01-31 or 2027-01-31T12:00:00Z`,
    placeholder,
    read: optional((given, now) => readTime(given, direction, now)),
  };
}

/** A time in the past, now unless it is given. */
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

/** What may be spent: `usd=5/day`. */
export function budget(about: string): Option<Budget | undefined> {
  return { about: `${about}: ${budgetGrammar}`, placeholder: '<budget>', read: optional(readBudget) };
}

/** The same, or `none`, which is null. */
export function budgetOrNone(about: string): Option<Budget | null | undefined> {
  return {
    about: `${about}: ${budgetGrammar}; none for no limit`,
    placeholder: '<budget>',
    read: optional((given) => (given === 'none' ? null : readBudget(given))),
  };
}

function readBudget(given: string): Budget {
  const read = parseBudget(given);
  if (read === null) throw usageFailure(`takes a budget such as ${budgetGrammar}, not "${given}".`);
  return read;
}

/** For how long a rule is tried: `30m,matches=50`. */
export function trial(about: string): Option<Trial | undefined> {
  return {
    about: `${about}: ${trialGrammar}`,
    placeholder: '<trial>',
    read: optional((given) => {
      const read = parseTrial(given);
      if (read === null)
        throw usageFailure(
          `takes a time up to 24h and up to 10000 matches, such as ${trialGrammar}, not "${given}".`,
        );
      return read;
    }),
  };
}

export function required<Value>(option: Option<Value | undefined>): Option<Value> {
  return {
    ...option,
    isRequired: true,
    read: (given, now) => {
      const value = option.read(given, now);
      if (value === undefined || value === '') throw usageFailure('is required.');
      return value;
    },
  };
}

function optional<Value>(read: (given: string, now: Date) => Value): Option<Value | undefined>['read'] {
  return (given, now = new Date()) => (given === undefined ? undefined : read(given, now));
}

/** The same words for the same thing in every command. */
export const platformFilter = oneOf(platforms, 'only this platform');
export const ruleFilter = text('<rule id>', 'only this rule, as `earshot rules list` shows it');
export const ruleId = required(text('<rule id>', 'as `earshot rules list` shows it'));
export const webhookId = required(text('<webhook id>', 'as `earshot webhooks list` shows it'));
export const cursor = text('<cursor>', '`next_cursor` of the answer before');
