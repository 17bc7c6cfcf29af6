import { apiCommand } from '../api-command.ts';
import { cursor, oneOf, pageLimit, required, ruleFilter, ruleId, text } from '../options.ts';
import { printable } from '../output/printable.ts';
import { relevanceText } from '../output/relevance-text.ts';
import { renderTable, withMore } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

const label = apiCommand({
  name: 'label',
  summary: 'label matches as relevant to the intent of their rule, or not',
  options: { note: text('<text>', 'why') },
  args: {
    label: required(oneOf(['relevant', 'not_relevant', 'none'], 'the label; "none" removes it')),
    matches: required(
      text('<match id,match id>', 'at most 100, as `earshot matches list --json` shows them'),
    ),
  },
  examples: [
    'earshot matches label relevant mat_0000000002rs',
    'earshot matches label not_relevant mat_0000000002rs --note "The metal, not the language"',
  ],
  doing: 'Labelling',
  call: (earshot, { options: { note }, args }) =>
    earshot.labelMatches({
      match_ids: args.matches.split(/[\s,]+/).filter(Boolean),
      label: args.label === 'none' ? null : args.label,
      note,
    }),
  show: ({ labelled, mute_suggestions }) =>
    [
      `Labelled: ${labelled}.`,
      ...mute_suggestions.map(
        ({ rule_id, author, domain, rejected }) =>
          `${rejected} rejected matches are from ${printable(author ?? domain ?? '')}. Mute: earshot matches mute --rule ${rule_id} ${
            author === null ? `--domain ${printable(domain ?? '')}` : `--author ${printable(author)}`
          }`,
      ),
    ].join('\n'),
});

const labels = apiCommand({
  name: 'labels',
  summary: 'list labels',
  options: { rule: ruleFilter, limit: pageLimit, cursor },
  examples: ['earshot matches labels'],
  doing: 'Listing labels',
  call: (earshot, { options: { rule, ...page } }) => earshot.listLabels({ rule_id: rule, ...page }),
  show: ({ labels: found, next_cursor }, screen) => {
    const rows = found.map(({ match_id, rule_id, label: name, labelled_at, note }) => [
      match_id,
      rule_id,
      name,
      shortTime(labelled_at),
      printable(note ?? ''),
    ]);
    const table = renderTable(['MATCH', 'RULE', 'LABEL', 'LABELLED', 'NOTE'], rows, screen);
    return withMore(table, next_cursor, 'earshot matches labels');
  },
});

const mute = apiCommand({
  name: 'mute',
  summary: 'hide matches of an author or site, or with a phrase',
  details: 'Muted matches are still stored and billed. To save their price, exclude them in the query.',
  options: {
    rule: ruleFilter,
    author: text('<handle>', 'matches of this author'),
    domain: text('<domain>', 'matches of this site and its subdomains'),
    phrase: text('<words>', 'matches with these words in this order'),
  },
  examples: [
    'earshot matches mute --author rustremoval',
    'earshot matches mute --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p --phrase "for sale"',
  ],
  doing: 'Muting',
  call: (earshot, { options: { rule, ...muted } }) => earshot.muteMatches({ rule_id: rule, ...muted }),
  show: ({ mute_id, query }) =>
    [
      `Muted. To show the matches again: earshot matches unmute ${mute_id}`,
      ...Object.entries(query).map(
        ([platform, exclusion]) => `To save their price, add to the query on ${platform}: ${exclusion}`,
      ),
    ].join('\n'),
});

const mutes = apiCommand({
  name: 'mutes',
  summary: 'list mutes',
  options: { limit: pageLimit, cursor },
  examples: ['earshot matches mutes'],
  doing: 'Listing mutes',
  call: (earshot, { options }) => earshot.listMutes(options),
  show: ({ mutes: found, next_cursor }, screen) => {
    const rows = found.map(({ id, rule_id, author, domain, phrase, created_at }) => [
      id,
      rule_id ?? 'any',
      printable(author ?? domain ?? phrase ?? ''),
      author !== null ? 'author' : domain !== null ? 'domain' : 'phrase',
      shortTime(created_at),
    ]);
    return withMore(
      renderTable(['ID', 'RULE', 'MUTED', 'KIND', 'CREATED'], rows, screen),
      next_cursor,
      'earshot matches mutes',
    );
  },
});

const unmute = apiCommand({
  name: 'unmute',
  summary: 'delete a mute, so that its matches are listed again',
  args: { mute: required(text('<mute id>', 'as `earshot matches mutes` shows it')) },
  examples: ['earshot matches unmute mut_01kb2n0a4c7q5t8w3y6z1v0n2p'],
  doing: 'Deleting the mute',
  call: (earshot, { args }) => earshot.deleteMute({ mute_id: args.mute }),
  show: ({ mute_id }) => `${mute_id} is deleted.`,
});

export const relevanceCommands = [label, labels, mute, mutes, unmute];

/** In the group `rules`. */
export const relevanceOfRule = apiCommand({
  name: 'relevance',
  summary: 'show how well the matches of a rule fit its intent, and how much the judge wrongly rejects',
  args: { rule: ruleId },
  examples: ['earshot rules relevance rule_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Getting the relevance',
  call: (earshot, { args }) => earshot.getRelevance({ rule_id: args.rule }),
  show: relevanceText,
});
