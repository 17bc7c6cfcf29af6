import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  ExecuteContext,
  HookContext,
  LoadOptionsContext,
  PackageDirectoryLoader,
  WebhookContext,
} from 'n8n-core';
import {
  createRunExecutionData,
  type ICredentialDataDecryptedObject,
  ICredentialsHelper,
  type ICredentialType,
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type IHttpRequestOptions,
  type ILoadOptionsFunctions,
  type INode,
  type INodeExecutionData,
  type INodeParameters,
  type INodeType,
  type IWebhookData,
  type IWebhookFunctions,
  type IWorkflowExecuteAdditionalData,
  Workflow,
} from 'n8n-workflow';
import { listenOnLoopback } from '../../testkit/src/index.ts';

/*
 * The engine of n8n runs the built package: its loader, contexts, expressions and HTTP requests. Only what the application has around
 * the engine is made here: the store of credentials, and the server that receives webhooks.
 */

export interface Credentials {
  readonly url: string;
  readonly apiKey: string;
}

const credentialName = 'earshotApi';

let loading: ReturnType<typeof load> | undefined;
/** After the package was built. */
const loaded = () => (loading ??= load());

async function load() {
  const loader = new PackageDirectoryLoader(join(import.meta.dirname, '..'));
  await loader.loadAll();
  return {
    nodeType: (name: string) => loader.getNode(name.replace(/^.*\./, '')).type as INodeType,
    credentialType: loader.getCredential(credentialName).type,
  };
}

/** Has one credential, and adds it to requests as its type says. */
class OneCredential extends ICredentialsHelper {
  readonly #type: ICredentialType;
  readonly #values: Credentials;
  constructor(type: ICredentialType, values: Credentials) {
    super();
    this.#type = type;
    this.#values = values;
  }
  getParentTypes = () => [];
  isCredentialUsableByNode = () => true;
  getDecrypted = async (): Promise<ICredentialDataDecryptedObject> => ({ ...this.#values });
  preAuthentication = async () => undefined;
  runPreAuthentication = async () => undefined;
  getCredentialsProperties = () => this.#type.properties;
  async authenticate(
    credentials: ICredentialDataDecryptedObject,
    _name: string,
    request: IHttpRequestOptions,
    workflow?: Workflow,
    node?: INode,
  ): Promise<IHttpRequestOptions> {
    const { authenticate } = this.#type;
    if (typeof authenticate !== 'object' || !workflow || !node) throw new Error('nothing authenticates');
    const headers = Object.entries(authenticate.properties.headers ?? {}).map(([header, value]) => [
      header,
      evaluated(workflow, node, String(value), credentials),
    ]);
    return { ...request, headers: { ...request.headers, ...Object.fromEntries(headers) } };
  }
  getCredentials = unused;
  updateCredentials = unused;
  updateCredentialsOauthTokenData = unused;
}

async function unused(): Promise<never> {
  throw new Error('the package should not need this');
}

/** An expression of a credential's type. */
function evaluated(workflow: Workflow, node: INode, text: string, $credentials: object): string {
  return String(workflow.expression.getSimpleParameterValue(node, text, 'manual', { $credentials } as never));
}

interface Opened {
  readonly node: INode;
  readonly type: INodeType;
  readonly workflow: Workflow;
  readonly additionalData: IWorkflowExecuteAdditionalData;
}

/** A workflow with one node of the package. */
async function open(
  credentials: Credentials,
  name: string,
  { webhookBaseUrl = '', ...fields }: Partial<INode> & { webhookBaseUrl?: string },
): Promise<Opened> {
  const { nodeType, credentialType } = await loaded();
  const node: INode = {
    id: 'node-1',
    name: 'Earshot',
    type: `n8n-nodes-earshot.${name}`,
    typeVersion: 1,
    position: [0, 0],
    parameters: {},
    webhookId: 'webhook-1',
    credentials: { [credentialName]: { id: '1', name: 'Earshot' } },
    ...fields,
  };
  const workflow = new Workflow({
    id: 'workflow-1',
    nodes: [node],
    connections: {},
    active: true,
    nodeTypes: {
      getByName: nodeType,
      getByNameAndVersion: nodeType,
      getKnownTypes: () => ({}),
    },
  });
  const additionalData = {
    credentialsHelper: new OneCredential(credentialType, credentials),
    webhookBaseUrl,
    webhookWaitingBaseUrl: 'http://127.0.0.1/waiting',
    formWaitingBaseUrl: 'http://127.0.0.1/form',
    executionId: '1',
    variables: {},
    currentNodeParameters: node.parameters,
  } as Partial<IWorkflowExecuteAdditionalData> as IWorkflowExecuteAdditionalData;
  return { node, type: nodeType(name), workflow, additionalData };
}

// The contexts of n8n fit its interfaces only without `exactOptionalPropertyTypes`.
const hookContext = ({ workflow, node, additionalData }: Opened) =>
  new HookContext(workflow, node, additionalData, 'trigger', 'activate') as unknown as IHookFunctions;

/** Sends the request of n8n's test of the credential. */
export async function testCredential(credentials: Credentials): Promise<unknown> {
  const opened = await open(credentials, 'earshot', {});
  const { test } = (await loaded()).credentialType;
  if (test === undefined) throw new Error('the credential cannot be tested');
  const { request } = test;
  const baseURL = evaluated(opened.workflow, opened.node, request.baseURL ?? '', credentials);
  const options = { ...request, baseURL, json: true } as IHttpRequestOptions;
  const context = hookContext(opened);
  return await context.helpers.httpRequestWithAuthentication.call(context as never, credentialName, options);
}

/** What the editor offers for a parameter, by the method that the parameter names. */
export async function offered(credentials: Credentials, name: string, parameter: string, search?: string) {
  const opened = await open(credentials, name, {});
  const { workflow, node, additionalData, type } = opened;
  const context = new LoadOptionsContext(
    workflow,
    node,
    additionalData,
    parameter,
  ) as unknown as ILoadOptionsFunctions;
  const property = type.description.properties.find((one) => one.name === parameter);
  const list = property?.modes?.find(({ type }) => type === 'list')?.typeOptions?.searchListMethod;
  const searching = type.methods?.listSearch?.[list ?? ''];
  if (searching !== undefined) return (await searching.call(context, search)).results;
  const loading = type.methods?.loadOptions?.[String(property?.typeOptions?.loadOptionsMethod)];
  if (loading === undefined) throw new Error(`${parameter} has no list`);
  return await loading.call(context);
}

export interface ActionOptions {
  readonly continueOnFail?: boolean;
}

/** Runs the action node, with one item for each set of parameters. Those that differ are expressions, as in the editor of n8n. */
export async function runAction(
  credentials: Credentials,
  parameters: readonly Record<string, unknown>[],
  { continueOnFail = false }: ActionOptions = {},
): Promise<INodeExecutionData[]> {
  const names = new Set(parameters.flatMap((one) => Object.keys(one)));
  const values = [...names].map((name) => {
    const [first, ...others] = parameters.map((one) => one[name]);
    return [name, others.every((one) => one === first) ? first : `={{ $json[${JSON.stringify(name)}] }}`];
  });
  const opened = await open(credentials, 'earshot', {
    parameters: Object.fromEntries(values),
    ...(continueOnFail && { onError: 'continueRegularOutput' as const }),
  });
  const input = parameters.map((one) => ({ json: one as IDataObject }));
  const { node, workflow, additionalData } = opened;
  const data = { main: [input] };
  const context = new ExecuteContext(
    workflow,
    node,
    additionalData,
    'manual',
    createRunExecutionData(),
    0,
    input,
    data,
    { node, data, source: null },
    [],
  );
  const output = await opened.type.execute?.call(context as unknown as IExecuteFunctions);
  if (!Array.isArray(output)) throw new Error('the node has no output');
  return output[0] ?? [];
}

/** Activates a workflow with the trigger, whose webhook is on loopback. */
export async function startTrigger(credentials: Credentials, parameters: INodeParameters = {}) {
  /** The items of each start of the workflow. */
  const started: INodeExecutionData[][] = [];
  const server = createServer((request, response) => void receive(request, response));
  const webhookBaseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}/webhook`;
  const opened = await open(credentials, 'earshotTrigger', { parameters, webhookBaseUrl });
  const { node, type, workflow, additionalData } = opened;
  const [webhookDescription] = type.description.webhooks ?? [];
  const hooks = hookContext(opened);
  const url = hooks.getNodeWebhookUrl('default');
  if (!webhookDescription || url === undefined) throw new Error('the trigger has no webhook');
  const webhook = { node: node.name, path: 'webhook', webhookDescription } as IWebhookData;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const rawBody = await buffer(request);
    const express = Object.assign(response, {
      status(code: number) {
        response.statusCode = code;
        return express;
      },
      send(text: string) {
        response.write(text);
        return express;
      },
    });
    const context = new WebhookContext(
      workflow,
      node,
      {
        ...additionalData,
        httpRequest: Object.assign(request, { rawBody, params: {}, query: {}, body: {} }) as never,
        httpResponse: express as never,
      },
      'webhook',
      webhook,
      [],
      null,
    );
    const result = await type.webhook?.call(context as unknown as IWebhookFunctions);
    if (result?.workflowData) started.push(...(result.workflowData as INodeExecutionData[][]));
    if (result?.noWebhookResponse !== true) response.end(String(result?.webhookResponse ?? ''));
  }

  const { checkExists, create, delete: remove } = type.webhookMethods?.default ?? {};
  if (!checkExists || !create || !remove) throw new Error('the trigger does not manage its webhook');
  return {
    url,
    started,
    staticData: () => workflow.getStaticData('node', node),
    /** Activates the workflow like n8n: creates the webhook if it does not exist, and returns whether it was created. */
    async activate(): Promise<boolean> {
      return !(await checkExists.call(hooks)) && (await create.call(hooks));
    },
    deactivate: () => remove.call(hooks),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
