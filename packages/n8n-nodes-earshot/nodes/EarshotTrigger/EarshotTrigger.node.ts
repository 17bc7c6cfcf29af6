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
import { listRuleOptions } from '../choose-rules.ts';
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
  readonly rule_ids: readonly string[] | null;
  readonly platform: string | null;
  readonly state: string;
}

interface Message {
  readonly type: string;
  readonly matches?: IDataObject[];
  readonly removed?: IDataObject[];
}

/** The chosen rules; empty for all. An expression may be one id. */
const ruleIdsOf = (context: IHookFunctions): string[] =>
  [context.getNodeParameter('ruleIds', [])].flat().map(String);

/** The wanted webhook. Its name identifies the node, because each node of n8n has its own URL. */
function wantedOf(context: IHookFunctions) {
  const url = context.getNodeWebhookUrl('default');
  if (url === undefined) throw new NodeOperationError(context.getNode(), 'n8n has no URL for this webhook.');
  const ruleIds = ruleIdsOf(context);
  const platform = String(context.getNodeParameter('platform', 'any'));
  return {
    name: `n8n ${url}`.slice(0, 200),
    url,
    ...(ruleIds.length > 0 && { rule_ids: ruleIds }),
    ...(platform !== 'any' && { platform }),
  };
}

const registeredBy = (context: IHookFunctions | IWebhookFunctions): Registered =>
  context.getWorkflowStaticData('node');

async function listWebhooks(context: IHookFunctions): Promise<Webhook[]> {
  const all: Webhook[] = [];
  let cursor: unknown;
  do {
    const page = await callEarshot(
      context,
      '/api.ListWebhooks',
      typeof cursor === 'string' ? { cursor } : {},
    );
    all.push(...(page['webhooks'] as unknown as Webhook[]));
    cursor = page['next_cursor'];
  } while (typeof cursor === 'string');
  return all;
}

export class EarshotTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Earshot Trigger',
    name: 'earshotTrigger',
    icon: { light: 'file:../../icons/earshot.svg', dark: 'file:../../icons/earshot.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{[$parameter["ruleIds"]].flat().join(", ") || "every rule"}}',
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
        displayName: 'Rule Names or IDs',
        name: 'ruleIds',
        type: 'multiOptions',
        typeOptions: { loadOptionsMethod: 'listRuleOptions' },
        default: [],
        description:
          'Only matches of these rules. Leave empty for all rules. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'Platform',
        name: 'platform',
        type: 'options',
        options: [
          { name: 'Any', value: 'any' },
          { name: 'Bluesky', value: 'bluesky' },
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

  methods = { loadOptions: { listRuleOptions } };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { webhookId, secret } = registeredBy(this);
        if (webhookId === undefined || secret === undefined) return false;
        const { url, rule_ids = null, platform = null } = wantedOf(this);
        return (await listWebhooks(this)).some(
          (webhook) =>
            webhook.id === webhookId &&
            webhook.url === url &&
            webhook.rule_ids?.join() === rule_ids?.join() &&
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
