import { type Violation, violationsOf } from '@earshot/contract';
import type { Earshot } from '@earshot/sdk';
import type { z } from 'zod';
import type { EstimateTokens } from './content/estimate-tokens.ts';

/** What a tool works with: an account's Earshot, wherever it is, and nothing of the transport. */
export interface ToolCall {
  readonly earshot: Earshot;
  /** The caller has gone, or does not want the answer any more. */
  readonly signal: AbortSignal;
  readonly estimateTokens: EstimateTokens;
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

interface ToolRow<Input extends z.ZodObject, Output extends z.ZodObject> extends Omit<Tool, 'answer'> {
  readonly input: Input;
  readonly output: Output;
  readonly run: (
    args: z.output<Input>,
    call: ToolCall,
  ) => Promise<{ structured: z.input<Output> & Record<string, unknown>; text?: string }>;
}

/** The text is for clients that do not read structured content: the same, unless the tool says it better. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  row: ToolRow<Input, Output>,
): Tool {
  const { run, ...described } = row;
  return {
    ...described,
    async answer(args, call) {
      const parsed = row.input.safeParse(args ?? {});
      if (!parsed.success) throw new InvalidArguments(violationsOf(parsed.error));
      const { structured, text = JSON.stringify(structured) } = await run(parsed.data, call);
      return { structured, text };
    },
  };
}

export const readsOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
