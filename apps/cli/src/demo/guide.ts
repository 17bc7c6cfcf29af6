import type { Requests } from '@earshot/sdk';
import type { Screen } from '../output/screen.ts';

type NewRule = Requests['CreateRule'];

/** The first rule of the demo. It matches about half of the feed's English posts and pages. */
export const firstRule: NewRule = {
  name: 'Rockets, outages and chips',
  intent: 'Shows how matches arrive',
  platforms: ['x', 'firehose'],
  overrides: {
    x: '(rocket OR liftoff OR outage OR downtime OR chip) -is:retweet',
    firehose: 'title:rocket OR title:outage OR title:chip',
  },
};

/** The same with Bluesky, where everyday words match within seconds. */
export const firstRuleLive: NewRule = {
  ...firstRule,
  platforms: ['x', 'firehose', 'bluesky'],
  overrides: { ...firstRule.overrides, bluesky: 'rocket OR outage OR chip OR coffee OR music' },
};

const exampleRule: NewRule = {
  name: 'Football',
  intent: 'Goals and transfers',
  platforms: ['x', 'firehose'],
  overrides: { x: '(football OR goal) -is:retweet', firehose: 'title:football OR title:striker' },
};

/** The addresses of the demo, and commands to paste into another terminal. */
export function guide(
  demo: {
    baseUrl: string;
    consoleUrl: string;
    sandboxUrl: string;
    keys: readonly [string, string];
    /** How the user starts `earshot`. */
    self: string;
  },
  { paint }: Pick<Screen, 'paint'>,
): string {
  const { baseUrl, consoleUrl, sandboxUrl, keys, self } = demo;
  const key = `-H 'Authorization: Bearer ${keys[0]}'`;
  const json = "-H 'Content-Type: application/json'";
  const title = (text: string) => paint('bold', text);
  return `
${title('Console')}  ${consoleUrl} (signs in once, within 60 s; for another link: ${self} console)
${title('API')}      ${baseUrl}
${title('Key')}      ${keys[0]}
${title('Docs')}     ${baseUrl}/docs
${title('Sandbox')}  ${sandboxUrl} (stands in for X and Firehose; see packages/sandbox/README.md)

${title('Create a rule, list rules, list matches')} (paste into another terminal):

curl -s ${baseUrl}/api.CreateRule ${key} ${json} -d '${JSON.stringify(exampleRule)}'

curl -s ${baseUrl}/api.ListRules ${key}

curl -s ${baseUrl}/matches ${key} ${json} -d '{"limit":5}'

${title('Use the command line')}:

export EARSHOT_URL=${baseUrl} EARSHOT_API_KEY=${keys[0]}
${self} rules list
${self} --help

${title(`Matches of the rule "${firstRule.name}" as they arrive`)} (press Ctrl+C to stop the demo):
`;
}
