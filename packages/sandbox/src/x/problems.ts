import { Refusal } from '../http/exchange.ts';

/** Error bodies of x.md, appendix A. `host` is the host in `type` URIs: the wire still shows the old one. */
export type XProblems = ReturnType<typeof createProblems>;

export function createProblems(host: string) {
  const type = (name: string) => `https://${host}/2/problems/${name}`;
  const streamConnection = (status: number, issue: string, detail: string) =>
    new Refusal(status, {
      title: 'ConnectionException',
      detail,
      connection_issue: issue,
      type: type('streaming-connection'),
    });
  return {
    type,
    notEnrolled: (clientId: string) =>
      new Refusal(403, {
        client_id: clientId,
        detail: 'The plan of this App has no access to this endpoint.',
        registration_url: `https://${host}/sandbox`,
        title: 'Client Forbidden',
        required_enrollment: 'Appropriate Level of API Access',
        reason: 'client-not-enrolled',
        type: type('client-forbidden'),
      }),
    creditsDepleted: () =>
      new Refusal(402, {
        title: 'CreditsDepleted',
        account_id: '1',
        detail: 'The account has no credit left.',
        type: type('credits'),
      }),
    spendCapReached: () =>
      new Refusal(403, { title: 'SpendCapReached', detail: 'The spending limit of this cycle is reached.' }),
    usageCapExceeded: () =>
      new Refusal(429, {
        account_id: '1',
        product_name: 'standard-basic',
        title: 'UsageCapExceeded',
        period: 'Monthly',
        scope: 'Product',
        type: type('usage-capped'),
        detail: 'The usage of this cycle is used up.',
      }),
    noRules: () =>
      streamConnection(409, 'RuleConfigurationIssue', 'Add at least one rule before you connect.'),
    tooManyConnections: () =>
      streamConnection(429, 'TooManyConnections', 'All connection slots of this App are in use.'),
    invalidRequest: (message: string, parameters: object = {}) =>
      new Refusal(400, {
        errors: [{ parameters, message }],
        title: 'Invalid Request',
        detail: 'One or more parameters of the request are not valid.',
        type: type('invalid-request'),
      }),
    ruleCapExceeded: (cap: number) =>
      new Refusal(422, {
        title: 'RulesCapExceeded',
        detail: `The App may have at most ${cap} rules. Nothing was created.`,
        type: type('rule-cap'),
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
