export interface PageWithCommands {
  /** The test that runs the blocks with its own set-up. Without it, `e2e/pages.nightly.test.ts` runs them unchanged. */
  readonly test?: string;
  /** Blocks that no test runs, by their beginning, with the reason. */
  readonly notRun?: Readonly<Record<string, string>>;
  /** Exit codes other than 0, by the beginning of the line. */
  readonly codes?: Readonly<Record<string, number>>;
  /** Texts that the output of the commands must contain. */
  readonly shows?: readonly RegExp[];
}

const set = 'the test sets these variables';
const demo = { 'docker compose -f compose.demo.yaml up': 'e2e/containers runs it' };
const example = 'one of the examples of the command line, which are run';
const runbook = { test: 'e2e/runbooks.nightly.test.ts' };

/** Every page of the documentation with shell blocks. A unit test rejects pages that are not listed. */
export const pagesWithCommands: Readonly<Record<string, PageWithCommands>> = {
  'README.md': {
    notRun: demo,
    shows: [/"rule_id"/, /"matches":\[\{/, /^valid on x/m, /^(\d\d:\d\d:\d\d .*\n){3}/m],
  },
  'docs/agents.md': {
    notRun: { 'pnpm --dir examples install': 'needs a key of a model; e2e/examples runs the same files' },
    codes: { 'node agent.mjs 1 die': 1 },
    // The match that was not acknowledged is read again.
    shows: [/^(mat_\w+) [^]*^\1 /m],
  },
  'docs/backup-and-restore.md': {
    test: 'e2e/operations-backup.nightly.test.ts',
    notRun: { 'export PGHOST=': set },
  },
  'docs/bluesky.md': {
    notRun: {
      EARSHOT_BLUESKY_URL: 'a setting',
      'earshot rules create': 'needs a server with Bluesky; e2e/bluesky.e2e.test.ts creates such rules',
    },
  },
  'docs/cost.md': {
    shows: [
      /rule_\w+ is created/,
      /status +active/,
      /matches=1000\/month:notify/,
      /esk_\w+/,
      /may spend usd=100\/month/,
    ],
  },
  'docs/digests.md': {
    notRun: { 'curl -s "$EARSHOT_URL/api.CreateDigest"': 'e2e/digests.e2e.test.ts makes this request' },
  },
  'docs/exports.md': {
    notRun: {
      'earshot archives create': 'needs a storage; e2e/archives.nightly.test.ts creates such archives',
    },
  },
  'docs/mcp.md': {
    notRun: {
      'claude plugin':
        'needs Claude Code; e2e/claude-plugin.nightly.test.ts calls the tools as its files define',
    },
  },
  'docs/notices.md': { shows: [/^\{"notices":/m] },
  'docs/operations/accounts.md': { shows: [/acc_\w+ +paid +active .*Acme/, /esk_\w+/, /is deleted|deleted/] },
  'docs/operations/before-you-go-live.md': {
    codes: { 'curl -s --max-time': 7 },
    shows: [/^on\non$/m, /"status":"ready"/, /^x +main +live/m],
  },
  'docs/operations/database-restored.md': runbook,
  'docs/operations/database-unreachable.md': runbook,
  'docs/operations/earshot-down.md': runbook,
  'docs/operations/event-log-filling-up.md': runbook,
  'docs/operations/event-log-gap.md': runbook,
  'docs/operations/event-log-lost.md': runbook,
  'docs/operations/event-log-refusing.md': runbook,
  'docs/operations/matches-late.md': runbook,
  'docs/operations/nats-unreachable.md': runbook,
  'docs/operations/requests-failing.md': runbook,
  'docs/operations/review-needed.md': runbook,
  'docs/operations/source-action-required.md': runbook,
  'docs/operations/source-disconnected.md': runbook,
  'docs/operations/webhooks-late.md': runbook,
  'docs/operations/webhooks-not-delivered.md': runbook,
  'docs/operations/failover.md': { test: 'e2e/operations-failover.nightly.test.ts' },
  'docs/operations/monitoring.md': { shows: [/SUCCESS: \d+ rules found/] },
  'docs/operations/moving.md': { test: 'e2e/operations-pages.nightly.test.ts' },
  'docs/operations/rotation.md': {
    test: 'e2e/rotation.nightly.test.ts',
    notRun: {
      'earshot keys': example,
      'earshot admin create-key': example,
      'earshot webhooks rotate-secret': example,
    },
  },
  'docs/operations/several-nodes.md': { test: 'e2e/operations-pages.nightly.test.ts' },
  'docs/readers.md': {
    notRun: { 'earshot watch': 'never ends; e2e/cli-watch.nightly.test.ts runs it' },
    shows: [/^event: match$/m, /"matches":\[\{/],
  },
  'docs/relevance.md': {
    notRun: { 'curl -s "$EARSHOT_JUDGE_URL/': 'needs a model; judge-client.unit.test.ts makes such calls' },
    shows: [
      /^Labelled: 1\.$/m,
      /add to the query on x: -from:rustremoval/,
      /is deleted\.$/m,
      /^judge +on, /m,
    ],
  },
  'docs/rules-as-code.md': { shows: [/✓ created rockets/, /✓ created balloons/, /Nothing to do/] },
  'docs/tutorials/first-match.md': {
    notRun: demo,
    codes: { './dev earshot rules validate': 5 },
    shows: [/X has no AND/, /^rule_\w+ is created/m, /^(\d\d:\d\d:\d\d .*\n){3}/m, /live/],
  },
  'docs/tutorials/webhook-receiver.md': {
    shows: [/^test message$/m, /will be sent again/, /^refused: the signature is wrong$/m, /^400$/m],
  },
  'docs/upgrade.md': {},
  'docs/upstreams/README.md': {
    notRun: { 'pnpm earshot doctor': 'needs tokens of the real platforms; its tests use the sandbox' },
  },
  'docs/webhooks.md': {
    notRun: {
      'curl -s "$EARSHOT_URL/api.CreateWebhook"': 'needs a public address that answers',
      'earshot webhooks create': 'needs a public address that answers',
      'earshot listen': 'never ends; e2e/cli-watch.nightly.test.ts runs it',
    },
  },
  'skills/earshot/SKILL.md': { shows: [/"why":\{"verdict":"match"/, /"moved":true/, /"state":"paused"/] },
};

const never = 'never ends; e2e/cli-tail and e2e/cli-watch run it';

/** The examples in the help of the command line, which `e2e/pages.nightly.test.ts` runs in the order of docs/cli.md. */
export const commandExamples: PageWithCommands = {
  notRun: {
    'earshot matches tail': never,
    'earshot notices --follow': never,
    'earshot listen': never,
    'earshot watch': never,
    'earshot mcp': 'e2e/mcp-clients.e2e.test.ts starts it',
    'earshot demo': 'e2e/demo.e2e.test.ts starts it',
    'earshot services': 'apps/cli/test/services.int.test.ts',
    'earshot doctor': 'apps/cli/test/doctor-process.nightly.test.ts',
    'earshot login': 'prompts at a terminal: e2e/cli-tail.e2e.test.ts',
    'earshot logout': 'e2e/cli-tail.e2e.test.ts',
    'source ': 'apps/cli/test/completion.unit.test.ts',
    'earshot completion fish >': 'writes to the home folder',
  },
  codes: {
    // Both examples contain a mistake.
    'earshot rules validate': 5,
    'earshot rules delete': 2,
    'earshot rules delete rule_01kb2m9x4c7q5t8w3y6z1v0n2p --yes': 0,
    'earshot keys revoke': 2,
    'earshot readers delete': 2,
    // The cursor of the example, and an endpoint that does not listen.
    'earshot readers ack': 5,
    'earshot webhooks test': 1,
    // Too early after the rotation.
    'earshot admin rotate-cursor-secret --forget': 1,
    'earshot admin dead-letters retry 17': 3,
  },
};
