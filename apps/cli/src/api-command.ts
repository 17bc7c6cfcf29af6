import type { Earshot } from '@earshot/sdk';
import { type Command, command, type Input, type NoOptions, type Options } from './command.ts';
import { flag } from './options.ts';
import { confirm } from './output/confirm.ts';
import { jsonLine } from './output/printable.ts';
import type { Screen } from './output/screen.ts';

interface ApiCommand<Named extends Options, Placed extends Options, Answer extends object>
  extends Pick<Command, 'name' | 'summary' | 'details' | 'examples'> {
  readonly options?: Named;
  readonly args?: Placed;
  /** The progress message: "Registering the rule". */
  readonly doing: string;
  /** The request waits for the platforms, so it has a longer timeout. */
  readonly isSlow?: true;
  /** The question before a change that cannot be undone. */
  readonly confirm?: (input: Input<Named, Placed>) => string;
  readonly call: (earshot: Earshot, input: Input<Named, Placed>) => Promise<Answer>;
  /** The answer for people. */
  readonly show: (answer: Answer, screen: Screen, input: Input<Named, Placed>) => string;
  /** Only for commands whose answer does not always mean success. */
  readonly exitCode?: (answer: Answer) => number;
}

const slowTimeoutMs = 60_000;

/** A command that makes one request. It prints the raw answer with `--json`, otherwise the answer for people. */
export function apiCommand<
  Answer extends object,
  const Named extends Options = NoOptions,
  const Placed extends Options = NoOptions,
>(definition: ApiCommand<Named, Placed, Answer>): Command {
  const { doing, isSlow, confirm: question, call, show, exitCode, ...common } = definition;
  const options: Options = {
    ...common.options,
    ...(question && { yes: flag('do not ask for confirmation') }),
  };
  return command({
    ...common,
    options,
    async run(typed, { connect, isJson, screen }) {
      // The options of the definition, and perhaps --yes.
      const input = typed as Input<Named, Placed>;
      if (question && typed.options['yes'] !== true)
        await confirm(screen, question(input), 'This cannot be undone. Confirm it with --yes.');
      const earshot = await connect(isSlow && { timeoutMs: slowTimeoutMs });
      const answer = await screen.waitFor(doing, call(earshot, input));
      screen.print(isJson ? jsonLine(answer) : show(answer, screen, input));
      return exitCode?.(answer);
    },
  });
}
