import type { OperatorGuide } from '../language.ts';

type Form = Pick<OperatorGuide, 'name' | 'form' | 'meaning' | 'examples'>;

/** The syntax other than fields (firehose.md §12.2 to §12.7), for the syntax guide. */
export const forms: readonly Form[] = [
  {
    name: 'word',
    form: '"word"',
    meaning:
      'one word, any case, no stemming; a possessive is another word: `("acme" OR "acme\'s")`; stop words are not indexed in the diff fields',
    examples: ['"recall"'],
  },
  {
    name: 'phrase',
    form: '"several words"',
    meaning: 'the words side by side in this order; quote everything that is not one plain word',
    examples: ['"heat pump"'],
  },
  {
    name: 'proximity',
    form: '"a b"~N',
    meaning: 'the words up to N places apart; swapping two neighbours costs 2',
    examples: ['"battery fire"~5'],
  },
  { name: 'and', form: 'a AND b', meaning: 'both', examples: ['"solar" AND "storage"'] },
  { name: 'or', form: 'a OR b', meaning: 'at least one', examples: ['"solar" OR "wind power"'] },
  {
    name: 'not',
    form: 'a AND NOT b',
    meaning: 'a without b; a level needs something positive',
    examples: ['"solar" AND NOT ("eclipse" OR "flare")'],
  },
  {
    name: 'group',
    form: '( … )',
    meaning: 'groups; also `title:( … )` for one field',
    examples: ['("solar" OR "wind power") AND language:"en"'],
  },
];
