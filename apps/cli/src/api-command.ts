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
  /** What is waited for, for people: "Registering the rule". */
  readonly doing: string;
  /** It waits for the platforms, which may take a while. */
  readonly isSlow?: true;
  /** The question before something that cannot be undone. */
  readonly confirm?: (input: Input<Named, Placed>) => string;
  readonly ask: (earshot: Earshot, input: Input<Named, Placed>) => Promise<Answer>;
  /** The answer for people. */
  readonly show: (answer: Answer, screen: Screen, input: Input<Named, Placed>) => string;
  /** Where an answer can mean something else than success. */
  readonly exitCode?: (answer: Answer) => number;
}

const slowTimeoutMs = 60_000;

/** A command that makes one request of one answer: with `--json` the answer as it is, otherwise in words. */
export function apiCommand<
  Answer extends object,
  const Named extends Options = NoOptions,
  const Placed extends Options = NoOptions,
>(definition: ApiCommand<Named, Placed, Answer>): Command {
  const { doing, isSlow, confirm: question, ask, show, exitCode, ...common } = definition;
  const options: Options = {
    ...common.options,
    ...(question && { yes: flag('do not ask for confirmation') }),
  };
  return command({
    ...common,
    options,
    async run(typed, { connect, isJson, screen }) {
      // What the definition asked for, and perhaps one more.
      const input = typed as Input<Named, Placed>;
      if (question && typed.options['yes'] !== true)
        await confirm(screen, question(input), 'This cannot be undone: confirm it with --yes.');
      const earshot = await connect(isSlow && { timeoutMs: slowTimeoutMs });
      const answer = await screen.waitFor(doing, ask(earshot, input));
      screen.print(isJson ? jsonLine(answer) : show(answer, screen, input));
      return exitCode?.(answer);
    },
  });
}
