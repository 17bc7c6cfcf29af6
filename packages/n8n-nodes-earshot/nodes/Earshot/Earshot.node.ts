import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow';
import { callEarshot } from '../call-earshot.ts';
import { searchRules } from '../choose-rules.ts';
import { properties } from './properties.ts';

/** The server's limit for one page. */
const matchesPerPage = 100;

type Run = (context: IExecuteFunctions, index: number) => Promise<IDataObject[]>;

const textOf = (context: IExecuteFunctions, name: string, index: number): string =>
  String(context.getNodeParameter(name, index, '', { extractValue: true })).trim();

const changeRule =
  (operation: 'PauseRule' | 'ResumeRule' | 'DeleteRule'): Run =>
  async (context, index) => [
    await callEarshot(context, `/api.${operation}`, { rule_id: textOf(context, 'ruleId', index) }),
  ];

async function createRule(context: IExecuteFunctions, index: number): Promise<IDataObject[]> {
  const queries = [
    ['x', textOf(context, 'xQuery', index)],
    ['firehose', textOf(context, 'firehoseQuery', index)],
    ['bluesky', textOf(context, 'blueskyQuery', index)],
  ].filter(([, query]) => query !== '');
  if (queries.length === 0) {
    const message = 'The rule has no query. Add a query for at least one platform.';
    throw new NodeOperationError(context.getNode(), message, { itemIndex: index });
  }
  const rule = {
    name: textOf(context, 'name', index),
    intent: textOf(context, 'intent', index),
    platforms: queries.map(([platform]) => platform),
    overrides: Object.fromEntries(queries),
  };
  return [await callEarshot(context, '/api.CreateRule', rule)];
}

async function listRules(context: IExecuteFunctions): Promise<IDataObject[]> {
  const { rules } = await callEarshot(context, '/api.ListRules');
  return rules as IDataObject[];
}

async function listMatches(context: IExecuteFunctions, index: number): Promise<IDataObject[]> {
  const limit = Number(context.getNodeParameter('limit', index, 50));
  const ruleId = textOf(context, 'ruleFilter', index);
  const platform = textOf(context, 'platform', index);
  const filter = {
    ...(ruleId !== '' && { rule_id: ruleId }),
    ...(platform !== 'any' && platform !== '' && { platform }),
  };
  const found: IDataObject[] = [];
  let cursor: unknown;
  // A page can be shorter than its limit, so only the cursor marks the last page.
  do {
    const page = await callEarshot(context, '/matches', {
      ...filter,
      limit: Math.min(matchesPerPage, limit - found.length),
      ...(typeof cursor === 'string' && { cursor }),
    });
    found.push(...(page['matches'] as IDataObject[]));
    cursor = page['next_cursor'];
  } while (typeof cursor === 'string' && found.length < limit);
  return found;
}

const operations: Readonly<Record<string, Run>> = {
  'rule.create': createRule,
  'rule.delete': changeRule('DeleteRule'),
  'rule.getAll': listRules,
  'rule.pause': changeRule('PauseRule'),
  'rule.resume': changeRule('ResumeRule'),
  'match.getAll': listMatches,
};

export class Earshot implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Earshot',
    name: 'earshot',
    icon: { light: 'file:../../icons/earshot.svg', dark: 'file:../../icons/earshot.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Watch X and the live web: create, list, pause, resume and delete rules, and list matches',
    defaults: { name: 'Earshot' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'earshotApi', required: true }],
    properties,
  };

  methods = { listSearch: { searchRules } };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const output: INodeExecutionData[] = [];
    for (const index of this.getInputData().keys()) {
      const resource = textOf(this, 'resource', index);
      const operation = textOf(this, 'operation', index);
      try {
        const run = operations[`${resource}.${operation}`];
        if (run === undefined)
          throw new NodeOperationError(this.getNode(), `The operation ${operation} does not exist.`);
        for (const json of await run(this, index)) output.push({ json, pairedItem: { item: index } });
      } catch (error) {
        if (!this.continueOnFail())
          throw new NodeOperationError(this.getNode(), error as Error, { itemIndex: index });
        // n8n writes the message. The message of Earshot is the description.
        const { message, description } = error as NodeApiError;
        output.push({ json: { error: description ?? message }, pairedItem: { item: index } });
      }
    }
    return [output];
  }
}
