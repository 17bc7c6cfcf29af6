import { expect, test } from 'vitest';
import { type Command, type CommandGroup, isGroup } from '../../apps/cli/src/command.ts';
import { earshotCommands } from '../../apps/cli/src/commands.ts';
import { renderCliPage } from '../cli-page.ts';

test('docs/cli.md matches the command line (regenerate it with pnpm docs:write)', async () => {
  await expect(renderCliPage()).toMatchFileSnapshot('../../docs/cli.md');
});

test('docs/cli.md explains every option at its command, or once for all commands that share it', () => {
  const [shared = '', ...sections] = renderCliPage().split(/^### /m);
  const commandsOf = ({ commands }: CommandGroup): Command[] =>
    commands.flatMap((entry) => (isGroup(entry) ? commandsOf(entry) : [entry]));
  const unexplained = commandsOf(earshotCommands).flatMap(({ name, options }, index) =>
    Object.entries(options)
      .map(([option, { about }]) => ({ option, about }))
      .filter(({ option, about }) => {
        const lines = [sections[index] ?? '', shared].flatMap((text) => text.split('\n'));
        const isExplained = lines.some((line) => line.startsWith(`* \`--${option}`) && line.includes(about));
        return !isExplained || !sections[index]?.includes(`\`--${option}`);
      })
      .map(({ option }) => `${name} --${option}`),
  );
  expect(sections.length).toBe(commandsOf(earshotCommands).length);
  expect(unexplained).toEqual([]);
});
