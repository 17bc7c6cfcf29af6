/** One request and one answer per operation, for the OpenAPI document and the reference page. */
const createRule = {
  request: {
    name: 'Rust release chatter',
    intent: 'Hear about new Rust releases and the problems people meet with them.',
    platforms: ['x', 'firehose'],
    overrides: {
      x: '"rust 2027" (release OR broke) -is:retweet',
      firehose: '"rust 2027" AND (release OR broke)',
    },
    examples: {
      must_match: [{ platform: 'x', payload: { text: 'The Rust 2027 release is out' } }],
      must_not_match: [{ platform: 'x', payload: { text: 'How to get rust off a 2027 model' } }],
    },
  },
  answer: {
    rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
    platforms: {
      x: {
        platform_rule_id: '1989471234567890123',
        translated_value: '"rust 2027" (broke OR release) -is:retweet',
        status: 'active',
        warnings: [],
      },
      firehose: {
        platform_rule_id: '48213',
        translated_value: '(added:"broke" OR added:"release") AND added:"rust 2027"',
        status: 'active',
        warnings: [],
      },
    },
  },
} as const;

const listRules = {
  request: { limit: '100' },
  answer: {
    rules: [
      {
        id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
        name: 'Rust release chatter',
        intent: 'Hear about new Rust releases and the problems people meet with them.',
        created_at: '2026-11-14T22:46:00.000Z',
        updated_at: '2026-11-14T22:46:00.000Z',
        version: 1,
        state: 'active',
        expires_at: null,
        examples: createRule.request.examples,
        managed_by: null,
        platforms: {
          x: {
            platform_rule_id: '1989471234567890123',
            value: '"rust 2027" (release OR broke) -is:retweet',
            translated_value: '"rust 2027" (broke OR release) -is:retweet',
            status: 'active',
            rule_type: 'premium',
            active_since: '2026-11-14T22:46:00.412Z',
            last_match_at: '2026-11-14T22:51:09.120Z',
            match_count: 3,
          },
        },
      },
    ],
    next_cursor: null,
  },
} as const;

const ruleId = 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p';

const getRule = {
  request: { rule_id: ruleId },
  answer: listRules.answer.rules[0],
} as const;

const updateRule = {
  request: {
    rule_id: ruleId,
    platforms: ['x'],
    overrides: { x: '"rust 2027" release' },
    expires_at: '2026-12-31T00:00:00.000Z',
  },
  answer: {
    ...listRules.answer.rules[0],
    updated_at: '2026-11-15T07:00:00.000Z',
    version: 2,
    expires_at: '2026-12-31T00:00:00.000Z',
    platforms: {
      x: {
        ...listRules.answer.rules[0].platforms.x,
        platform_rule_id: '1989480000000000001',
        value: '"rust 2027" release',
        translated_value: '"rust 2027" release',
        active_since: '2026-11-15T06:59:59.800Z',
      },
    },
  },
} as const;

const pauseRule = {
  request: { rule_id: ruleId },
  answer: {
    ...listRules.answer.rules[0],
    updated_at: '2026-11-15T07:30:00.000Z',
    state: 'paused',
    platforms: {
      x: {
        ...listRules.answer.rules[0].platforms.x,
        platform_rule_id: '',
        status: 'paused',
        active_since: null,
      },
    },
  },
} as const;

const resumeRule = {
  request: { rule_id: ruleId },
  answer: { ...listRules.answer.rules[0], updated_at: '2026-11-15T07:45:00.000Z' },
} as const;

const deleteRule = {
  request: { rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p' },
  answer: { rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p', deleted_at: '2026-11-15T08:00:00.000Z' },
} as const;

const listMatches = {
  request: { rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p', order: 'oldest', limit: 50, wait_seconds: 20 },
  answer: {
    matches: [
      {
        id: 'mat_01kb2mj3s6d9f2g5h8k1m4n7q0',
        rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
        rule_version: 1,
        created_at: '2026-11-14T22:51:09.120Z',
        platform: 'x',
        platform_post_id: '1989472511223344556',
        via: 'stream',
        payload: {
          url: 'https://x.com/ferris/status/1989472511223344556',
          title: null,
          text: 'Rust 2027 release day! Nothing broke.',
          author: { id: '2244994945', name: 'Ferris', handle: 'ferris' },
          published_at: '2026-11-14T22:51:08.000Z',
          language: 'en',
          raw: { data: { id: '1989472511223344556', text: 'Rust 2027 release day! Nothing broke.' } },
        },
        why: {
          verdict: 'match',
          confidence: 'exact',
          evidence: [
            {
              rule_span: { start: 0, end: 11 },
              field: 'phrase',
              path: 'data.text',
              text_span: { start: 0, end: 9 },
              text: 'Rust 2027',
            },
          ],
          undecided: [],
        },
      },
    ],
    next_cursor: 'c1.MTk4OTQ3MjUx.5b1f0c7e',
    coverage: {
      complete_through: '2026-11-14T22:51:10.000Z',
      gaps: [
        {
          platform: 'x',
          from: '2026-11-14T22:48:00.000Z',
          to: '2026-11-14T22:48:04.250Z',
          reason: 'dropped',
          repaired: true,
        },
      ],
    },
  },
} as const;

const validateRule = {
  request: { platforms: ['x'], overrides: { x: 'rust OR cargo -is:retweet' } },
  answer: {
    platforms: {
      x: {
        valid: true,
        translated_value: 'cargo -is:retweet OR rust',
        diagnostics: [
          {
            severity: 'warning',
            code: 'or_precedence',
            message:
              '-is:retweet applies to one branch of the OR only, because a space binds tighter than OR. Group the branches if it is meant for all.',
            span: { start: 14, end: 25 },
            fixes: [
              {
                title: 'Apply it to all branches',
                edits: [
                  { span: { start: 0, end: 0 }, text: '(' },
                  { span: { start: 13, end: 13 }, text: ')' },
                ],
              },
            ],
          },
        ],
      },
    },
  },
} as const;

const platformSyntax = {
  request: { platforms: ['x'] },
  answer: {
    platforms: {
      x: {
        rule_type: 'premium',
        summary: 'Terms and operators; a space means AND.',
        grammar_version: '1',
        limits: { value_length_max: 1024 },
        precedence: 'A dash binds tightest, then a space (and), then OR.',
        operators: [
          {
            name: 'is:retweet',
            form: 'is:retweet',
            meaning: 'Matches retweets.',
            standalone: false,
            negatable: true,
            examples: ['cats -is:retweet'],
            tier: 'standard',
          },
        ],
        pitfalls: [
          {
            wrong: 'cats OR dogs -is:retweet',
            right: '(cats OR dogs) -is:retweet',
            why: 'A space binds tighter than OR.',
          },
        ],
        examples: [
          {
            intent: 'Original posts about cats',
            value: 'cats -is:retweet',
            explanation: 'The word cats, without retweets.',
          },
        ],
        markdown: '# Rules on x\n\nTerms and operators; a space means AND.\n',
      },
    },
  },
} as const;

const error = {
  code: 'not_found',
  message: 'There is no such rule: list your rules to see the ids that exist.',
  details: { request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg' },
} as const;

export const examples = {
  createRule,
  listRules,
  getRule,
  updateRule,
  pauseRule,
  resumeRule,
  deleteRule,
  listMatches,
  validateRule,
  platformSyntax,
  error,
};
