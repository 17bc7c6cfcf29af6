import { type OperationId, operations, type Scope, type Violation, violationsOf } from '@earshot/contract';
import type { Earshot } from '@earshot/sdk';
import type { z } from 'zod';
import { writeReadable } from './content/readable.ts';

type ToolScope = 'rules:read' | 'rules:write' | 'matches:read' | 'matches:label' | 'readers:write' | null;

type ToolOperation = Exclude<
  { [Id in OperationId]: (typeof operations)[Id]['scope'] extends ToolScope ? Id : never }[OperationId],
  'StreamMatches' | 'StreamNotices' | 'WhoAmI'
>;

type Options = Parameters<Earshot['updateWebhook']>[1];

/** What notify_by needs: it cannot send a URL or an address. */
interface Destinations extends Pick<Earshot, 'listWebhooks' | 'listDigests'> {
  updateWebhook(
    request: { webhook_id: string; rule_ids: string[] },
    options: Options,
  ): ReturnType<Earshot['updateWebhook']>;
  updateDigest(
    request: { digest_id: string; rule_ids: string[] },
    options: Options,
  ): ReturnType<Earshot['updateDigest']>;
}

/** The operations that tools may call. None of them sends data to a new address, manages keys or reads the audit. */
type ForTools = Pick<Earshot, Uncapitalize<ToolOperation>> & Destinations;

/** The context of a call, independent of the transport. */
export interface ToolCall {
  readonly earshot: ForTools;
  /** Dollars a day. A rule that may cost more is started only if the user agrees. */
  readonly confirmAboveUsd: number;
  /** Aborts when the caller disconnects or cancels. */
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  readonly text: string;
  /** Only for tools with an output schema. */
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
  /** The main operation. A key without its scope does not see the tool. */
  readonly operation: ToolOperation | 'UpdateWebhook';
  readonly input: z.ZodObject;
  /** Missing for tools that answer with a text and no structured content. */
  readonly output?: z.ZodObject;
  /** Names of the arguments that differ from the fields of the API's request. */
  readonly argumentOf?: Readonly<Record<string, string>>;
  answer(args: unknown, call: ToolCall): Promise<ToolAnswer>;
}

/** The arguments do not fit the input schema. Nothing was done. */
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
 * Reduces the answer to the fields of the output schema. Fields that the API gains later may contain untrusted content or be
 * unlimited in size, so they must not reach agents automatically.
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
