import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../event-log/event-log.ts';
import type { MatchedRule } from '../upstream/item.ts';
import { type Holder, matchEvents, slotReferences, splitByMatches } from './match-events.ts';

const ours = (slotId: string) => `earshot:here:${slotId}`;
const rule = (upstreamRuleId: string, tag: string | null = null): MatchedRule => ({ upstreamRuleId, tag });

function event(key: string, rules: readonly MatchedRule[], sourceId = 'x:main'): LogEvent {
  return {
    platform: 'x',
    sourceId,
    upstreamEventId: key,
    key,
    day: '2026-09-01',
    platformPostId: key,
    rules,
    payload: {
      url: null,
      title: null,
      text: null,
      author: null,
      published_at: null,
      language: null,
      raw: {},
    },
  };
}

function holder(slotId: string, ruleId: string, changed: Partial<Holder> = {}): Holder {
  return {
    slotId,
    value: 'a value',
    sourceId: 'x:main',
    upstreamRuleId: slotId.replace('slot_', ''),
    ruleId,
    accountId: 'acc_1',
    ruleVersion: 1,
    heldSince: null,
    ...changed,
  };
}

test.each([
  ['the time of its post', { published_at: '2026-09-01T10:00:00.000Z' }, '2026-09-01T10:00:00.000Z'],
  ['no time if the post has none', { published_at: null }, null],
  ['no time if it cannot be read', { published_at: 'noon' }, null],
])('a match has %s', (_, payload, expected) => {
  const post = event('e', [rule('1')]);
  const { matches } = matchEvents(
    'here',
    [{ ...post, payload: { ...post.payload, ...payload } }],
    [holder('slot_1', 'rule_a')],
  );
  expect(matches[0]?.itemAt?.toISOString() ?? null).toBe(expected);
});

describe('an event goes to', () => {
  test.each([
    ['first', ['1', '2']],
    ['last', ['2', '1']],
  ])('a rule between two versions once, for the newer one, even if the older has the id %s', (_, ids) => {
    const { matches } = matchEvents(
      'here',
      [
        event(
          'e',
          ids.map((id) => rule(id)),
        ),
      ],
      [holder('slot_1', 'rule_a', { ruleVersion: 4 }), holder('slot_2', 'rule_a', { ruleVersion: 5 })],
    );
    expect(matches).toMatchObject([{ ruleId: 'rule_a', ruleVersion: 5 }]);
  });

  test('every rule that holds the slot, in any account', () => {
    const { matches, posts } = matchEvents(
      'here',
      [event('e', [rule('1')])],
      [
        holder('slot_1', 'rule_a'),
        holder('slot_1', 'rule_b', { accountId: 'acc_2', ruleVersion: 3 }),
        holder('slot_2', 'rule_c'),
      ],
    );
    expect(matches).toEqual([
      {
        accountId: 'acc_1',
        ruleId: 'rule_a',
        ruleVersion: 1,
        platform: 'x',
        eventKey: 'e',
        eventDay: '2026-09-01',
        via: 'stream',
        itemAt: null,
        cost: { part: 1_000_000, users: 0, posts: 0 },
      },
      {
        accountId: 'acc_2',
        ruleId: 'rule_b',
        ruleVersion: 3,
        platform: 'x',
        eventKey: 'e',
        eventDay: '2026-09-01',
        via: 'stream',
        itemAt: null,
        cost: { part: 1_000_000, users: 0, posts: 0 },
      },
    ]);
    expect(posts).toHaveLength(1);
  });

  test('a rule as a search match if it came from a search', () => {
    const { matches } = matchEvents(
      'here',
      [{ ...event('e', [rule('1')]), via: 'search' }],
      [holder('slot_1', 'rule_a')],
    );
    expect(matches).toMatchObject([{ via: 'search' }]);
  });

  test('a rule once, even if several of its upstream rules matched', () => {
    const { matches } = matchEvents(
      'here',
      [event('e', [rule('1'), rule('9', ours('slot_1'))]), event('e', [rule('1')])],
      [holder('slot_1', 'rule_a')],
    );
    expect(matches).toHaveLength(1);
  });

  test('the rule of the Earshot tag rather than of the upstream rule id', () => {
    const { matches } = matchEvents(
      'here',
      [event('e', [rule('2', ours('slot_1'))])],
      [holder('slot_1', 'rule_a'), holder('slot_2', 'rule_b')],
    );
    expect(matches.map(({ ruleId }) => ruleId)).toEqual(['rule_a']);
  });

  test('no rule with the same upstream rule id on another source', () => {
    const { matches, unknown } = matchEvents(
      'here',
      [event('e', [rule('1')], 'x:second')],
      [holder('slot_1', 'rule_a')],
    );
    expect(matches).toEqual([]);
    expect(unknown.size).toBe(1);
  });
});

describe('an event is unknown', () => {
  test('if it names an untagged rule without a holder, even beside a known rule', () => {
    const events = [event('e', [rule('1'), rule('9')]), event('f', [rule('9', 'theirs')])];
    const { matches, unknown } = matchEvents('here', events, [holder('slot_1', 'rule_a')]);
    expect(unknown).toEqual(new Set(events));
    expect(matches).toHaveLength(1);
  });

  test('but not if its slot is tagged and has no holder any more', () => {
    const { posts, unknown } = matchEvents('here', [event('e', [rule('1', ours('slot_7'))])], []);
    expect(unknown.size).toBe(0);
    expect(posts).toEqual([]);
  });

  test('and not if it names no rule', () => {
    expect(matchEvents('here', [event('e', [])], [])).toEqual({
      posts: [],
      matches: [],
      recipients: new Map(),
      unknown: new Set(),
      verdicts: [],
    });
  });
});

test('a rule that took the slot later gets streamed items but no older search results', () => {
  const found = (minute: number, via: 'search' | undefined): LogEvent => {
    const { payload, ...rest } = event(`post ${minute} ${via}`, [rule('1')]);
    const published_at = new Date(Date.UTC(2026, 8, 1, 10, minute)).toISOString();
    return { ...rest, payload: { ...payload, published_at }, ...(via && { via }) };
  };
  const events = [found(29, 'search'), found(31, 'search'), found(29, undefined)];
  expect(slotReferences('here', events).searched).toBe(true);
  const { matches, posts } = matchEvents('here', events, [
    holder('slot_1', 'rule_before', { heldSince: new Date(Date.UTC(2026, 8, 1, 10, 0)) }),
    holder('slot_1', 'rule_later', { heldSince: new Date(Date.UTC(2026, 8, 1, 10, 30)) }),
  ]);
  expect(posts).toHaveLength(3);
  expect(matches.map(({ ruleId, eventKey }) => `${ruleId}: ${eventKey}`)).toEqual([
    'rule_before: post 29 search',
    'rule_before: post 31 search',
    'rule_later: post 31 search',
    'rule_before: post 29 undefined',
    'rule_later: post 29 undefined',
  ]);
});

test('each slot is looked up once, by tag or by upstream rule', () => {
  const events = [
    event('e', [rule('1', ours('slot_1')), rule('2'), rule('3', 'earshot:elsewhere:slot_1')]),
    event('f', [rule('1', ours('slot_1')), rule('2')]),
  ];
  expect(slotReferences('here', events)).toEqual({
    searched: false,
    slotIds: ['slot_1'],
    upstreamRules: [
      { sourceId: 'x:main', upstreamRuleId: '2' },
      { sourceId: 'x:main', upstreamRuleId: '3' },
    ],
  });
});

test('a batch is split in order, by the number of its matches', () => {
  const holders = [
    ...['a', 'b', 'c'].map((id) => holder('slot_3', `rule_${id}`)),
    ...['a', 'b', 'c', 'd', 'e'].map((id) => holder('slot_5', `rule_${id}`)),
  ];
  const batch = [[], ['3'], ['99'], ['3', '5'], ['3'], [], ['3'], ['5']].map((ids, n) => ({
    event: event(
      `e${n}`,
      ids.map((id) => rule(id)),
    ),
  }));
  const parts = splitByMatches(batch, { installation: 'here', holders, max: 6 });
  expect(parts.map((part) => part.map((logged) => logged.event.key))).toEqual([
    ['e0', 'e1', 'e2'],
    ['e3'],
    ['e4', 'e5', 'e6'],
    ['e7'],
  ]);
  expect(splitByMatches([], { installation: 'here', holders, max: 6 })).toEqual([]);
});
