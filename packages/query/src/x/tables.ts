import { createDialect } from './dialect.ts';
import { elsewhere, undocumented } from './elsewhere.ts';
import { implied } from './exclusions.ts';
import { languageCode } from './languages.ts';
import { contentOperators } from './operators-content.ts';
import { narrowingOperators } from './operators-narrowing.ts';

/** X's filtered stream. */
export const xDialect = createDialect({
  name: 'X',
  operators: [...contentOperators, ...narrowingOperators],
  lengthMax: { standard: 1024, enterprise: 2048, embedding: 2048 },
  elsewhere,
  undocumented,
  implied,
  // An account may be named by its handle and its number, so only a language is decided.
  single: {
    lang: 'language',
    from: 'author',
    to: 'account that it replies to',
    retweets_of: 'account that it retweets',
    place_country: 'country',
    conversation_id: 'conversation',
    in_reply_to_tweet_id: 'post that it replies to',
    retweets_of_tweet_id: 'post that it retweets',
  },
  languageCode: (value) => languageCode(value) ?? value,
  texts: {
    stream: 'The stream',
    everything:
      'Nearly every post matches a part of this, and each is billed. Say what posts must be about: a rarer word, a phrase, a hashtag or an account.',
    oneWord:
      'Possibly very broad: one word or tag is enough, and each post is billed (a common word: 200,000 a day, $1,000). Preview the rule, or require a second word, a phrase or an account.',
    stopWords:
      'X may refuse words as common as these alone; otherwise nearly every post matches. Add a rarer word.',
    negatedBranch: 'This branch of OR holds for every post without the clause. X may refuse it.',
    negatedGroup:
      'X advises against a dash before parentheses. The rule is registered with each clause negated.',
  },
});
