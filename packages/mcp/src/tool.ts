import { type OperationId, type operations, type Violation, violationsOf } from '@earshot/contract';
import type { Earshot } from '@earshot/sdk';
import type { z } from 'zod';

type ToolScope = 'rules:read' | 'rules:write' | 'matches:read' | null;

type ToolOperation = {
  [Id in OperationId]: (typeof operations)[Id]['scope'] extends ToolScope ? Id : never;
}[OperationId];

/** The calls that tools may make: about rules and matches. Nothing that sends data out, no keys, no audit. */
type ForTools = Pick<Earshot, Uncapitalize<Exclude<ToolOperation, 'StreamMatches' | 'StreamNotices'>>>;

/** What a tool gets besides its arguments; independent of the transport. */
export interface ToolCall {
  readonly earshot: ForTools;
  /** Dollars a day above which a rule is not started before the user has agreed. */
  readonly confirmAboveUsd: number;
  /** Aborts when the caller disconnects or cancels. */
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  readonly structured: Record<string, unknown>;
  readonly text: string;
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
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
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
  /** The text is for clients that do not read structured content: the same, unless the tool says it better. */
  readonly run: (args: z.output<Input>, call: ToolCall) => Promise<{ structured: object; text?: string }>;
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
      const structured = row.output.parse(answer.structured);
      return { structured, text: answer.text ?? JSON.stringify(structured) };
    },
  };
}

export const readsOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
