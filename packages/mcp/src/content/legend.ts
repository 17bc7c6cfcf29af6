import type { Match } from '@earshot/sdk';
import { visible } from './visible.ts';

/** By their ids; a rule that is not among them is shown by its id alone. */
export type RuleNames = ReadonlyMap<string, string>;

const nameLengthMax = 40;

export interface Legend {
  /** What stands for the rule in the line of this match. */
  labelOf(match: Match): string;
  /** The line that says so, when this match is the first one of its rule and version. */
  entryAt(match: Match): string | null;
}

/** Ids of rules are long, and a page has matches of few: they are told once, each version by itself. */
export function createLegend(matches: readonly Match[], names: RuleNames): Legend {
  const labels = new Map<string, string>();
  const entries = new Map<Match, string>();
  for (const match of matches) {
    const { rule_id: id, rule_version: version } = match;
    const key = `${id} v${version}`;
    if (labels.has(key)) continue;
    const label = `R${labels.size + 1}`;
    const name = names.get(id);
    labels.set(key, label);
    entries.set(match, `${label} = ${key}${name === undefined ? '' : ` ${quoted(name)}`}`);
  }
  return {
    labelOf: ({ rule_id: id, rule_version: version }) => labels.get(`${id} v${version}`) ?? id,
    entryAt: (match) => entries.get(match) ?? null,
  };
}

/** The account's own words, which hide nothing and begin no markup: they stand outside of the fence. */
function quoted(name: string): string {
  const short = name.length <= nameLengthMax ? name : `${name.slice(0, nameLengthMax).toWellFormed()}…`;
  return JSON.stringify(visible(short));
}
