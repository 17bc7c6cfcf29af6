import type { Handler } from '../accounts/call.ts';
import type { Plans } from '../accounts/plans.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { UrlProblem } from './public-address.ts';
import { badUrl, nameTaken, noSecretsKey } from './refusals.ts';
import { newSecret, type SecretBox } from './secrets.ts';
import type { WebhookStore } from './webhook-store.sql.ts';

export interface CreateWebhookOptions {
  readonly store: Pick<WebhookStore, 'create'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly urlProblem: UrlProblem;
  /** Null when the operator has not configured a key for secrets. */
  readonly secretBox: SecretBox | null;
  readonly plans: Plans;
  readonly contact: string;
}

export function createWebhook(options: CreateWebhookOptions): Handler<'CreateWebhook'> {
  const { store, rules, urlProblem, secretBox, plans, contact } = options;
  return async ({ principal: { accountId, plan }, request, change }) => {
    if (secretBox === null) throw noSecretsKey(contact);
    const { name, url } = request;
    const ruleId = request.rule_id ?? null;
    const platform = request.platform ?? null;
    const problem = urlProblem(url);
    if (problem !== null) throw badUrl(problem);
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const id = newId('whk');
    const secret = newSecret();
    const webhook = { id, name, url, ruleId, platform, sealedSecret: secretBox.seal(id, secret) };
    const { webhooksMax } = plans[plan];
    const outcome = await store.create(change, webhook, webhooksMax);
    switch (outcome.kind) {
      case 'created':
        return { ...outcome.answer, secret };
      case 'name_taken':
        throw nameTaken(name);
      case 'limit':
        throw new Failure(
          'resource_exhausted',
          `The account has ${outcome.used} of ${webhooksMax} webhooks: delete one, or ask ${contact} for more.`,
          { details: { limit: webhooksMax, used: outcome.used, contact } },
        );
    }
  };
}
