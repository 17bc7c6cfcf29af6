import { expect, test, vi } from 'vitest';
import { main } from '../src/main.ts';

async function run(words: readonly string[]) {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await main(words), ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const rulesHelp = expect.stringMatching(/^Usage: earshot rules <command> \[options\]\n/);

test.for([
  { typed: '', code: 0, stdout: expect.stringMatching(/^Usage: earshot <command>/), stderr: '' },
  { typed: 'rules --help', code: 0, stdout: rulesHelp, stderr: '' },
  { typed: 'help rules', code: 0, stdout: rulesHelp, stderr: '' },
  { typed: 'rules', code: 2, stdout: '', stderr: rulesHelp },
  {
    typed: 'help rules get',
    code: 0,
    stdout: expect.stringMatching(/^Usage: earshot rules get /),
    stderr: '',
  },
  { typed: '--version', code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' },
  {
    typed: 'rules get',
    code: 2,
    stdout: '',
    stderr: "Missing required argument 'rule id'.\nearshot rules get --help shows the usage.\n",
  },
  {
    typed: 'rules get --json',
    code: 2,
    stdout: '',
    stderr: `{"code":"usage","message":"Missing required argument 'rule id'.","details":{}}\n`,
  },
])('earshot $typed ends with $code', async ({ typed, ...expected }) => {
  expect(await run(typed.split(' ').filter(Boolean))).toEqual(expected);
});
