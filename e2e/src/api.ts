import type { AnswerOf, ErrorEnvelope, Match, Rule } from '@earshot/contract';

/** A plain HTTP client, without the SDK: it shows what a caller receives. */
export interface Api {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  createRule(rule: NewRule): Promise<AnswerOf<'CreateRule'>>;
  deleteRule(ruleId: string): Promise<AnswerOf<'DeleteRule'>>;
  getRule(ruleId: string): Promise<Rule>;
  updateRule(ruleId: string, changes: object): Promise<Rule>;
  pauseRule(ruleId: string): Promise<Rule>;
  resumeRule(ruleId: string): Promise<Rule>;
  listRules(): Promise<AnswerOf<'ListRules'>>;
  matches(request?: object): Promise<AnswerOf<'ListMatches'>>;
  /** All matches, oldest first, page by page. */
  allMatches(request?: object): Promise<Match[]>;
}

export interface NewRule {
  readonly x?: string;
  readonly firehose?: string;
  readonly bluesky?: string;
  readonly name?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

class ApiError extends Error {
  readonly status: number;
  readonly envelope: ErrorEnvelope;
  constructor(status: number, envelope: ErrorEnvelope) {
    super(`${status} ${JSON.stringify(envelope)}`);
    this.status = status;
    this.envelope = envelope;
  }
}

export function createApi(baseUrl: string, key: string): Api {
  const call: Api['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  };
  const ask = async <Result>(method: string, path: string, body?: unknown): Promise<Result> => {
    const answer = await call(method, path, body);
    if (answer.status !== 200) throw new ApiError(answer.status, answer.json as ErrorEnvelope);
    return answer.json as Result;
  };
  const matches: Api['matches'] = (request = {}) => ask('POST', '/matches', request);
  return {
    call,
    createRule: ({ name = 'a rule', ...overrides }) =>
      ask('POST', '/api.CreateRule', {
        name,
        intent: 'to see what happens',
        platforms: Object.keys(overrides),
        overrides,
      }),
    deleteRule: (ruleId) => ask('POST', '/api.DeleteRule', { rule_id: ruleId }),
    getRule: (ruleId) => ask('POST', '/api.GetRule', { rule_id: ruleId }),
    updateRule: (ruleId, changes) => ask('POST', '/api.UpdateRule', { rule_id: ruleId, ...changes }),
    pauseRule: (ruleId) => ask('POST', '/api.PauseRule', { rule_id: ruleId }),
    resumeRule: (ruleId) => ask('POST', '/api.ResumeRule', { rule_id: ruleId }),
    listRules: () => ask('GET', '/api.ListRules'),
    matches,
    async allMatches(request = {}) {
      const all: Match[] = [];
      let cursor: string | undefined;
      for (;;) {
        const page = await matches({ ...request, order: 'oldest', limit: 100, ...(cursor && { cursor }) });
        all.push(...page.matches);
        if (page.matches.length === 0) return all;
        cursor = page.next_cursor ?? undefined;
      }
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
