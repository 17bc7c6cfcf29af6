import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type {
  ICredentialType,
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  INode,
  INodeExecutionData,
  INodeType,
  IWebhookFunctions,
} from 'n8n-workflow';
import { listenOnLoopback } from '../../testkit/src/index.ts';

/**
 * Stands in for n8n, which is too large to install. It loads the built package by its manifest, authenticates requests with
 * the credential, and stores a node's static data.
 */
const root = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);

interface Manifest {
  readonly n8n: { readonly nodes: readonly string[]; readonly credentials: readonly string[] };
}

function load<Type>(kind: keyof Manifest['n8n'], name: string): Type {
  const { n8n }: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const path = n8n[kind].find((one) => basename(one).split('.')[0] === name);
  if (path === undefined) throw new Error(`${name} is not in the manifest`);
  return new (require(join(root, path))[name])();
}

export const loadNode = (name: string) => load<INodeType>('nodes', name);

export interface Credentials {
  readonly url: string;
  readonly apiKey: string;
}

/** Evaluates `={{$credentials.name}}` with text around it. The credential uses no other expressions. */
const evaluate = (expression: string, credentials: Credentials): string =>
  expression
    .replace(/^=/, '')
    .replace(/\{\{\$credentials\.(\w+)\}\}/g, (_, name: keyof Credentials) => credentials[name]);

async function send(options: IHttpRequestOptions, headers: Record<string, string>): Promise<unknown> {
  // Joined as in axios, which n8n uses.
  const url = `${options.baseURL?.replace(/\/+$/, '')}/${options.url.replace(/^\/+/, '')}`;
  const response = await fetch(url, {
    method: options.method ?? 'GET',
    headers: { ...headers, 'content-type': 'application/json' },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  });
  const data: unknown = await response.json();
  if (response.ok) return data;
  // The error of n8n's helper.
  const message = `Request failed with status code ${response.status}`;
  throw Object.assign(new Error(message), {
    httpCode: String(response.status),
    response: { status: response.status, data },
  });
}

async function sendWithCredential(credentials: Credentials, options: IHttpRequestOptions): Promise<unknown> {
  const { authenticate } = load<ICredentialType>('credentials', 'EarshotApi');
  if (typeof authenticate !== 'object') throw new Error('the credential has no authentication');
  const headers = Object.entries(authenticate.properties.headers ?? {}).map(([name, value]) => [
    name,
    evaluate(String(value), credentials),
  ]);
  return send(options, Object.fromEntries(headers));
}

/** Sends the request of n8n's test of the credential. */
export function testCredential(credentials: Credentials): Promise<unknown> {
  const { test } = load<ICredentialType>('credentials', 'EarshotApi');
  if (test === undefined) throw new Error('the credential cannot be tested');
  const baseURL = evaluate(test.request.baseURL ?? '', credentials);
  const { method = 'GET', url = '', body } = test.request;
  return sendWithCredential(credentials, { method, url, baseURL, body } as IHttpRequestOptions);
}

const node: INode = {
  id: 'node-1',
  name: 'Earshot',
  type: 'n8n-nodes-earshot.earshot',
  typeVersion: 1,
  position: [0, 0],
  parameters: {},
};

const contextOf = (credentials: Credentials) => ({
  getNode: () => node,
  getCredentials: () => Promise.resolve({ ...credentials }),
  helpers: {
    httpRequestWithAuthentication: (_type: string, options: IHttpRequestOptions) =>
      sendWithCredential(credentials, options),
    returnJsonArray: (items: IDataObject[]): INodeExecutionData[] => items.map((json) => ({ json })),
  },
});

export interface ActionOptions {
  readonly continueOnFail?: boolean;
}

/** Runs the action node with one item for each set of parameters. */
export async function runAction(
  credentials: Credentials,
  parameters: readonly Record<string, unknown>[],
  { continueOnFail = false }: ActionOptions = {},
): Promise<INodeExecutionData[]> {
  const context = {
    ...contextOf(credentials),
    getInputData: () => parameters.map(() => ({ json: {} })),
    getNodeParameter: (name: string, index: number, fallback: unknown) =>
      parameters[index]?.[name] ?? fallback,
    continueOnFail: () => continueOnFail,
  };
  const [output] = (await loadNode('Earshot').execute?.call(context as unknown as IExecuteFunctions)) as [
    INodeExecutionData[],
  ];
  return output;
}

/** Starts a workflow with the trigger, whose webhook is on loopback. */
export async function startTrigger(credentials: Credentials, parameters: Record<string, unknown> = {}) {
  const trigger = loadNode('EarshotTrigger');
  /** The items of each start of the workflow. */
  const started: INodeExecutionData[][] = [];
  const staticData: IDataObject = {};
  const common = {
    ...contextOf(credentials),
    getWorkflowStaticData: () => staticData,
    getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const answer = { status: 200 };
    const express = {
      status(code: number) {
        answer.status = code;
        return express;
      },
      send(text: string) {
        response.writeHead(answer.status).write(text);
        return express;
      },
      end: () => response.end(),
    };
    const context = {
      ...common,
      getRequestObject: () => Object.assign(request, { rawBody: body }),
      getResponseObject: () => express,
    };
    const result = await trigger.webhook?.call(context as unknown as IWebhookFunctions);
    if (result?.workflowData !== undefined) started.push(...result.workflowData);
    if (result?.noWebhookResponse !== true) response.end(String(result?.webhookResponse ?? ''));
  };
  const server = createServer((request, response) => void receive(request, response));
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/webhook/1/webhook`;
  const hooks = { ...common, getNodeWebhookUrl: () => url } as unknown as IHookFunctions;
  const { checkExists, create, delete: remove } = trigger.webhookMethods?.default ?? {};
  if (!checkExists || !create || !remove) throw new Error('the trigger does not manage its webhook');
  return {
    url,
    started,
    staticData,
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
