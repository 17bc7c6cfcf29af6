import type { Answers, Match, Requests } from '@earshot/sdk';
import { releaseValue, ruleIds } from './rules.ts';
import { ago } from './time.ts';

/** Contains a right-to-left override and a zero-width space, which must be visible. */
const hidden =
  'Rust 2027 release \u202Egnp.exe\u202C notes\u200B, sign here: https://rust-lang.org.example.com/login';

const texts = [
  'Rust 2027 release day! Nothing broke, and the borrow checker even said thank you.',
  'The rust 2027 release broke our build farm for about an hour this morning. The new resolver is stricter about features that were enabled by accident; pin it, read the migration notes, and try again. Otherwise: splendid work, and thanks to all reviewers.',
  hidden,
  'انتهى انتظار Rust 2027: the release is here, and our crates compile.',
  'Rust 2027 release party on Thursday, bring crabs',
  'If the rust 2027 release broke your macros, here is a thread with what changed and why. 1/9',
  'Waiting for the distribution packages of the Rust 2027 release.',
] as const;

/** By the index of the match. The second reason repeats hidden characters of its item. */
const judgements: Readonly<Record<number, Match['relevance']>> = {
  0: { verdict: 'relevant', by: 'label', reason: null, intent_version: null },
  1: {
    verdict: 'unsure',
    by: 'judge',
    reason: 'Says that a build broke, but not\u200B which release.',
    intent_version: 1,
  },
  2: { verdict: 'not_relevant', by: 'judge', reason: 'Imitates the release notes.', intent_version: 1 },
  4: { verdict: 'not_relevant', by: 'label', reason: null, intent_version: null },
};

export const matches: readonly Match[] = Array.from({ length: 24 }, (_, index) => ({
  ...(index === 3 || index === 9 ? page(index) : post(index, texts[index % texts.length] ?? '')),
  ...(judgements[index] && { relevance: judgements[index] }),
}));

/** A match that no list has. */
export const olderMatch: Match = { ...post(90, 'An older rust 2027 release.'), created_at: ago(9, 'day') };

function post(index: number, text: string): Match {
  return {
    ...common(index),
    platform: 'x',
    payload: {
      url: `https://x.com/ferris/status/19894725112233${index}`,
      title: null,
      text,
      author: { id: '2244994945', name: 'Ferris', handle: 'ferris' },
      published_at: ago(3 + index * 7, 'minute'),
      language: 'en',
      raw: { data: { text } },
    },
    why: {
      verdict: 'match',
      confidence: 'exact',
      evidence: ['rust 2027', 'release'].flatMap((word) => evidenceOf(text, word)),
      undecided: [],
    },
  };
}

function evidenceOf(text: string, word: string): Match['why']['evidence'] {
  const start = text.toLowerCase().indexOf(word);
  if (start === -1) return [];
  const end = start + word.length;
  const inRule = releaseValue.indexOf(word.includes(' ') ? `"${word}"` : word);
  return [
    {
      rule_span: { start: inRule, end: inRule + word.length + (word.includes(' ') ? 2 : 0) },
      field: word.includes(' ') ? 'phrase' : 'keyword',
      path: 'data.text',
      text_span: { start, end },
      text: text.slice(start, end),
    },
  ];
}

function page(index: number): Match {
  const title = 'Rust 2027: what the new release changes for library authors';
  return {
    ...common(index),
    platform: 'firehose',
    payload: {
      url: 'https://blog.example.org/2026/11/rust-2027?from=feed',
      title,
      text: 'The edition is opt-in, and a release can be adopted crate by crate. We tried it on forty of ours.',
      author: null,
      published_at: null,
      language: 'en',
      raw: { document: { title } },
    },
    why: {
      verdict: 'match',
      confidence: 'approximate',
      evidence: [
        {
          rule_span: { start: 0, end: 17 },
          field: 'added',
          path: 'document.title',
          text_span: { start: 0, end: 9 },
          text: 'Rust 2027',
        },
      ],
      undecided: [],
    },
  };
}

function common(index: number) {
  return {
    id: `mat_01kb2mj3s6d9f2g5h8k1m4n7${String(index).padStart(2, '0')}`,
    rule_id: ruleIds.release,
    rule_version: 1,
    created_at: ago(3 + index * 7, 'minute'),
    platform_post_id: `19894725112233${index}`,
    via: index === 5 ? 'search' : 'stream',
  } as const;
}

/** Few matches at night, and one busy morning. */
export function countsOf({ from, to, step, by }: Requests['CountMatches']): Answers['CountMatches'] {
  const steps = Math.ceil((Date.parse(to) - Date.parse(from)) / 1_000 / step);
  const counts = (height: number) =>
    Array.from({ length: steps }, (_, index) => {
      const hour = new Date(Date.parse(from) + index * step * 1_000).getUTCHours();
      const wave = Math.max(0, Math.sin(((hour - 4) / 24) * 2 * Math.PI)) + ((index * 7) % 5) / 12;
      return Math.round(height * wave * (index === steps - 22 ? 3 : 1));
    });
  const series =
    by === 'rule'
      ? Object.values(ruleIds)
          .slice(0, 3)
          .map((rule_id, index) => ({ rule_id, counts: counts(9 / (index + 1)) }))
      : [{ counts: counts(9) }];
  return { from, to, step, series };
}
