import { fileURLToPath } from 'node:url';
import { compileCache } from '@earshot/engines';
import { type ReadAnswer, readAnswer } from '@earshot/mcp/injections';
import {
  Client,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { expect } from 'vitest';
import { z } from 'zod';

const cliScript = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** A tool's refusal, as programs find it in the `_meta` of a result with `isError`. */
const refusalSchema = z.object({
  'earshot/error': z.looseObject({
    code: z.string(),
    message: z.string(),
    what_to_do: z.string(),
    violations: z
      .array(
        z.looseObject({
          field: z.string(),
          code: z.string(),
          message: z.string(),
          excerpt: z.string().optional(),
          fixes: z.array(z.object({ title: z.string(), value: z.string() })).optional(),
        }),
      )
      .optional(),
    send: z.object({ overrides: z.record(z.string(), z.string()) }).optional(),
    required_scope: z.string().optional(),
  }),
});

export type Refusal = z.output<typeof refusalSchema>['earshot/error'];

export interface Called {
  readonly text: string;
  readonly structured: unknown;
  readonly refusal: Refusal | null;
}

/**
 * A client without a model. It knows only `tools/list`: it validates its arguments against the input schema before it
 * calls, and the results against the output schema.
 */
export interface Agent extends AsyncDisposable {
  readonly client: Client;
  readonly tools: readonly Tool[];
  /** A call that must succeed; parsed with the schema that the script needs. */
  call<Wanted extends z.ZodType>(name: string, args: object, wanted: Wanted): Promise<z.output<Wanted>>;
  /** The same for a tool that answers with matches, as text only. */
  read(name: string, args: object): Promise<ReadAnswer>;
  /** A call that must be refused. `mistaken`: the arguments break the schema, as models sometimes do. */
  refused(name: string, args: object, options?: { mistaken?: boolean }): Promise<Refusal>;
  callRaw(name: string, args: object): Promise<Called>;
}

export type Connect = (options: { url: string; key: string }) => Transport;

export const overHttp: Connect = ({ url, key }) =>
  new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });

export const overStdio: Connect = ({ url, key }) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [cliScript, 'mcp'],
    env: { ...compileCache(), EARSHOT_URL: url, EARSHOT_API_KEY: key },
    stderr: 'inherit',
  });

export async function startAgent(
  transport: Transport,
  mode: { pin: string } | 'legacy' = { pin: '2026-07-28' },
): Promise<Agent> {
  const client = new Client({ name: 'scripted', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const validators = new AjvJsonSchemaValidator();
  const toolOf = (name: string) => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`tools/list has no ${name}`);
    return { input: tool.inputSchema, output: tool.outputSchema };
  };
  const problemOf = (schema: object, value: unknown) =>
    validators.getValidator({ ...schema })(value).errorMessage;

  const callRaw = async (name: string, args: object): Promise<Called> => {
    const result = await client.callTool({ name, arguments: { ...args } });
    const [block, ...others] = result.content;
    const text = block?.type === 'text' ? block.text : '';
    expect(others).toEqual([]);
    if (result.isError) {
      const refusal = refusalSchema.parse(result._meta)['earshot/error'];
      return { text, structured: undefined, refusal };
    }
    const { output } = toolOf(name);
    if (output) expect(problemOf(output, result.structuredContent)).toBeUndefined();
    else expect(result.structuredContent).toBeUndefined();
    return { text, structured: result.structuredContent, refusal: null };
  };
  const callRight = async (name: string, args: object): Promise<Called> => {
    expect(problemOf(toolOf(name).input, args)).toBeUndefined();
    const called = await callRaw(name, args);
    expect(called.refusal).toBeNull();
    return called;
  };
  return {
    client,
    tools,
    callRaw,
    call: async (name, args, wanted) => wanted.parse((await callRight(name, args)).structured),
    read: async (name, args) => readAnswer((await callRight(name, args)).text),
    async refused(name, args, { mistaken = false } = {}) {
      expect(problemOf(toolOf(name).input, args) !== undefined).toBe(mistaken);
      const { refusal } = await callRaw(name, args);
      if (!refusal) throw new Error(`${name} was not refused`);
      return refusal;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
