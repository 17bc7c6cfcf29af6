import type { Match } from '@earshot/sdk';

/** A match on `x`, or on `firehose` if it has a `url`, with these texts in all untrusted fields. */
export function aMatch(index: number, words: { text: string | null; url?: string; other?: string }): Match {
  const { text, url, other = 'Some One' } = words;
  return {
    id: `mat_${index.toString(36).padStart(12, '0')}`,
    rule_id: 'rule_01kb2m8yx4e5r6t7v8w9x0y1z2',
    rule_version: 1,
    created_at: '2026-11-14T22:46:00.000Z',
    platform: url === undefined ? 'x' : 'firehose',
    platform_post_id: url ?? String(1_990_000_000_000_000_000n + BigInt(index)),
    via: 'stream',
    payload: {
      url: url ?? `https://x.com/someone/status/${index}`,
      title: url === undefined ? null : other,
      text,
      author: url === undefined ? { id: '42', name: other, handle: 'someone' } : null,
      published_at: '2026-11-14T22:45:58.000Z',
      language: 'en',
      raw: { data: { text } },
    },
    why: {
      verdict: 'match',
      confidence: 'exact',
      evidence: [
        {
          rule_span: { start: 0, end: 6 },
          field: 'keyword',
          path: 'data.text',
          text_span: { start: 0, end: 6 },
          text: other,
        },
      ],
      undecided: [],
    },
  };
}
