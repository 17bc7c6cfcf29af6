import type { Handler } from '../accounts/call.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { UrlProblem } from './public-address.ts';
import { badUrl, nameTaken, noSecretsKey, noSuchWebhook } from './refusals.ts';
import { newSecret, type SecretBox } from './secrets.ts';
import type { WebhookChanges, WebhookStore } from './webhook-store.sql.ts';

export interface UpdateWebhookOptions {
  readonly store: Pick<WebhookStore, 'update'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly urlProblem: UrlProblem;
}

export function updateWebhook({ store, rules, urlProblem }: UpdateWebhookOptions): Handler<'UpdateWebhook'> {
  return async ({ principal: { accountId }, request, change }) => {
    const { webhook_id, name, url, rule_id: ruleId, platform, state } = request;
    const problem = url === undefined ? null : urlProblem(url);
    if (problem !== null) throw badUrl(problem);
    if (typeof ruleId === 'string' && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const changes: WebhookChanges = {
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      ...(ruleId === undefined ? {} : { ruleId }),
      ...(platform === undefined ? {} : { platform }),
      ...(state === undefined ? {} : { state }),
    };
    const outcome = await store.update(change, webhook_id, changes);
    switch (outcome.kind) {
      case 'updated':
        return outcome.webhook;
      case 'not_found':
        throw noSuchWebhook();
      case 'name_taken':
        throw nameTaken(name ?? '');
    }
  };
}

export function deleteWebhook(store: Pick<WebhookStore, 'remove'>): Handler<'DeleteWebhook'> {
  return async ({ request: { webhook_id }, change }) => {
    const answer = await store.remove(change, webhook_id);
    if (!answer) throw noSuchWebhook();
    return answer;
  };
}

export function rotateWebhookSecret(options: {
  readonly store: Pick<WebhookStore, 'rotate'>;
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}): Handler<'RotateWebhookSecret'> {
  const { store, secretBox, contact } = options;
  return async ({ request: { webhook_id }, change }) => {
    if (secretBox === null) throw noSecretsKey(contact);
    const secret = newSecret();
    const answer = await store.rotate(change, webhook_id, secretBox.seal(webhook_id, secret));
    if (!answer) throw noSuchWebhook();
    return { ...answer, secret };
  };
}

export function listWebhooks(store: Pick<WebhookStore, 'list'>): Handler<'ListWebhooks'> {
  return async ({ principal }) => ({ webhooks: await store.list(principal.accountId) });
}
