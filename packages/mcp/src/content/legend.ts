import type { Match } from '@earshot/sdk';
import { visible } from './visible.ts';

/** Names by rule id. A rule without an entry is shown by its id. */
export type RuleNames = ReadonlyMap<string, string>;

const nameLengthMax = 40;

export interface Legend {
  /** The label of the rule in the line of this match. */
  labelOf(match: Match): string;
  /** The legend entry, if this match is the first of its rule and version. */
  entryAt(match: Match): string | null;
}

/** Rule ids are long, and a page has matches of few rules. So the legend lists each rule version once. */
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

/** The name stands outside of the fence, so invisible characters and markup are escaped. */
function quoted(name: string): string {
  const short = name.length <= nameLengthMax ? name : `${name.slice(0, nameLengthMax).toWellFormed()}…`;
  return JSON.stringify(visible(short));
}
