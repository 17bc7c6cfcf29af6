import { type OperationId, operations, type Scope, type Violation, violationsOf } from '@earshot/contract';
import type { Earshot } from '@earshot/sdk';
import type { z } from 'zod';
import { writeReadable } from './content/readable.ts';

type ToolScope = 'rules:read' | 'rules:write' | 'matches:read' | 'readers:write' | null;

type ToolOperation = Exclude<
  { [Id in OperationId]: (typeof operations)[Id]['scope'] extends ToolScope ? Id : never }[OperationId],
  'StreamMatches' | 'StreamNotices' | 'WhoAmI'
>;

/** The calls that tools may make: about rules and matches. Nothing that sends data out, no keys, no audit. */
type ForTools = Pick<Earshot, Uncapitalize<ToolOperation>>;

/** What a tool gets besides its arguments; independent of the transport. */
export interface ToolCall {
  readonly earshot: ForTools;
  /** Dollars a day above which a rule is not started before the user has agreed. */
  readonly confirmAboveUsd: number;
  /** Aborts when the caller disconnects or cancels. */
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  readonly text: string;
  /** Only of a tool with an output schema. */
  readonly structured?: Record<string, unknown> | undefined;
}

interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolHints;
  /** What the tool is for. A key that may not do it does not see the tool. */
  readonly operation: ToolOperation;
  readonly input: z.ZodObject;
  /** Left out by tools whose answers are only read: they have a text and no structured content. */
  readonly output?: z.ZodObject;
  /** Fields of the API's request, and the arguments that they are sent as where these have another name. */
  readonly argumentOf?: Readonly<Record<string, string>>;
  answer(args: unknown, call: ToolCall): Promise<ToolAnswer>;
}

/** The arguments do not have the form that the tool asks for: nothing was done. */
export class InvalidArguments extends Error {
  readonly violations: readonly Violation[];
  constructor(violations: readonly Violation[]) {
    super('Correct the arguments and call again.');
    this.violations = violations;
  }
}

interface ToolRow<Input extends z.ZodObject> extends Omit<Tool, 'answer'> {
  readonly input: Input;
  readonly run: (
    args: z.output<Input>,
    call: ToolCall,
  ) => Promise<{ readonly structured: object } | { readonly text: string }>;
}

/**
 * The answer is reduced to the fields of the output schema, so that a field which the API gains later, perhaps with untrusted
 * text or without a size limit, does not reach agents by itself.
 */
export function defineTool<Input extends z.ZodObject>(row: ToolRow<Input>): Tool {
  const { run, ...described } = row;
  return {
    ...described,
    async answer(args, call) {
      const parsed = row.input.safeParse(args ?? {});
      if (!parsed.success) throw new InvalidArguments(violationsOf(parsed.error));
      const answer = await run(parsed.data, call);
      if ('text' in answer) return answer;
      const structured = row.output?.parse(answer.structured) ?? {};
      return { structured, text: writeReadable(structured) };
    },
  };
}

/** Whether a key with these scopes may use the tool. */
export function isAllowed({ operation }: Tool, scopes: readonly Scope[]): boolean {
  const { scope } = operations[operation];
  return scope === null || scopes.includes(scope);
}

export const readsOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
