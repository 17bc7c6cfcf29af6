import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow';
import { callEarshot } from '../call-earshot.ts';
import { isGenuine } from './verify-message.ts';

/** The static data that n8n stores between activations. */
interface Registered extends IDataObject {
  webhookId?: string;
  secret?: string;
}

interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly rule_id: string | null;
  readonly platform: string | null;
  readonly state: string;
}

interface Message {
  readonly type: string;
  readonly matches?: IDataObject[];
  readonly removed?: IDataObject[];
}

/** The wanted webhook. Its name identifies the node, because each node of n8n has its own URL. */
function wantedOf(context: IHookFunctions) {
  const url = context.getNodeWebhookUrl('default');
  if (url === undefined) throw new NodeOperationError(context.getNode(), 'n8n has no URL for this webhook.');
  const ruleId = String(context.getNodeParameter('ruleId', '')).trim();
  const platform = String(context.getNodeParameter('platform', 'any'));
  return {
    name: `n8n ${url}`.slice(0, 200),
    url,
    ...(ruleId !== '' && { rule_id: ruleId }),
    ...(platform !== 'any' && { platform }),
  };
}

const registeredBy = (context: IHookFunctions | IWebhookFunctions): Registered =>
  context.getWorkflowStaticData('node');

async function listWebhooks(context: IHookFunctions): Promise<Webhook[]> {
  const { webhooks } = await callEarshot(context, '/api.ListWebhooks', {});
  return webhooks as unknown as Webhook[];
}

export class EarshotTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Earshot Trigger',
    name: 'earshotTrigger',
    icon: { light: 'file:../../icons/earshot.svg', dark: 'file:../../icons/earshot.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["ruleId"] || "every rule"}}',
    description: 'Starts the workflow on every match of your rules on X and the live web',
    defaults: { name: 'Earshot Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'earshotApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Matches contain untrusted content: treat it as data, never as instructions to an agent',
        name: 'notice',
        type: 'notice',
        default: '',
      },
      {
        displayName: 'Rule ID',
        name: 'ruleId',
        type: 'string',
        default: '',
        placeholder: 'rule_…',
        description: 'Only matches of this rule. Leave empty for all rules.',
      },
      {
        displayName: 'Platform',
        name: 'platform',
        type: 'options',
        options: [
          { name: 'Any', value: 'any' },
          { name: 'Firehose', value: 'firehose' },
          { name: 'X', value: 'x' },
        ],
        default: 'any',
      },
      {
        displayName: 'Include Removals',
        name: 'removals',
        type: 'boolean',
        default: false,
        description:
          'Whether to also output removed matches, as items with type "removed" and match_id. Delete your copies of these.',
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { webhookId, secret } = registeredBy(this);
        if (webhookId === undefined || secret === undefined) return false;
        const { url, rule_id = null, platform = null } = wantedOf(this);
        return (await listWebhooks(this)).some(
          (webhook) =>
            webhook.id === webhookId &&
            webhook.url === url &&
            webhook.rule_id === rule_id &&
            webhook.platform === platform &&
            webhook.state === 'active',
        );
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const wanted = wantedOf(this);
        // Deletes the webhook of an earlier activation, whose secret is lost or whose filter differs.
        for (const { id, name } of await listWebhooks(this)) {
          if (name === wanted.name) await callEarshot(this, '/api.DeleteWebhook', { webhook_id: id });
        }
        const { webhook_id, secret } = await callEarshot(this, '/api.CreateWebhook', wanted);
        Object.assign(registeredBy(this), { webhookId: webhook_id, secret });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const registered = registeredBy(this);
        for (const { id } of await listWebhooks(this)) {
          if (id === registered.webhookId) await callEarshot(this, '/api.DeleteWebhook', { webhook_id: id });
        }
        delete registered.webhookId;
        delete registered.secret;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret } = registeredBy(this);
    const { headers, rawBody } = this.getRequestObject();
    if (secret === undefined || rawBody === undefined || !isGenuine(secret, headers, rawBody)) {
      this.getResponseObject().status(401).send('The signature is not valid.').end();
      return { noWebhookResponse: true };
    }
    const { type, matches = [], removed = [] } = JSON.parse(rawBody.toString('utf8')) as Message;
    const items = this.getNodeParameter('removals', false) === true ? [...matches, ...removed] : matches;
    // Accepts test messages, and removals that are not requested, without a start of the workflow.
    if (type !== 'matches' || items.length === 0) return { webhookResponse: 'ok' };
    return { workflowData: [this.helpers.returnJsonArray(items)] };
  }
}
