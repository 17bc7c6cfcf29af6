import { Refusal } from '../http/exchange.ts';
import type { JsonObject } from '../http/json.ts';

/** The error bodies of x.md, appendix A. `host` is the host in `type` URIs. */
export type XProblems = ReturnType<typeof createProblems>;

export function createProblems(host: string) {
  const type = (name: string) => `https://${host}/2/problems/${name}`;
  const problem = (status: number, name: string, body: JsonObject) =>
    new Refusal(status, { ...body, type: type(name) });
  const connectionException = (status: number, issue: string, detail: string) =>
    problem(status, 'streaming-connection', {
      title: 'ConnectionException',
      detail,
      connection_issue: issue,
    });
  const invalidRequest = (message: string, parameters: object = {}) =>
    problem(400, 'invalid-request', {
      errors: [{ parameters, message }],
      title: 'Invalid Request',
      detail: 'One or more parameters of the request are not valid.',
    });
  return {
    type,
    notEnrolled: (clientId: string) =>
      problem(403, 'client-forbidden', {
        client_id: clientId,
        detail: 'The plan of this App has no access to this endpoint.',
        registration_url: `https://${host}/sandbox`,
        title: 'Client Forbidden',
        required_enrollment: 'Appropriate Level of API Access',
        reason: 'client-not-enrolled',
      }),
    creditsDepleted: () =>
      problem(402, 'credits', {
        title: 'CreditsDepleted',
        account_id: '1',
        detail: 'The account has no credit left.',
      }),
    spendCapReached: () =>
      new Refusal(403, { title: 'SpendCapReached', detail: 'The spending limit of this cycle is reached.' }),
    usageCapExceeded: () =>
      problem(429, 'usage-capped', {
        account_id: '1',
        product_name: 'standard-basic',
        title: 'UsageCapExceeded',
        period: 'Monthly',
        scope: 'Product',
        detail: 'The usage cap of this cycle is reached.',
      }),
    noRules: () =>
      connectionException(409, 'RuleConfigurationIssue', 'Add at least one rule before you connect.'),
    tooManyConnections: () =>
      connectionException(429, 'TooManyConnections', 'All connections of this App are in use.'),
    invalidRequest,
    invalidParameter: (parameter: string, value: string | null) =>
      invalidRequest(`The parameter ${parameter} is not valid here.`, { [parameter]: [value] }),
    ruleCapExceeded: (cap: number) =>
      problem(422, 'rule-cap', {
        title: 'RulesCapExceeded',
        detail: `The App may have at most ${cap} rules. Nothing was created.`,
      }),
  };
}

export function unauthorized(): Refusal {
  const detail = 'The bearer token is absent or unknown.';
  return new Refusal(401, { title: 'Unauthorized', type: 'about:blank', status: 401, detail });
}

export function tooManyRequests(): Refusal {
  const detail = 'The rate limit of this endpoint is used up.';
  return new Refusal(429, { title: 'Too Many Requests', type: 'about:blank', status: 429, detail });
}
