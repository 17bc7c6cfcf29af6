interface PageWithCommands {
  /** The test that reads shell blocks from the page and runs them, and how many it runs. */
  readonly test?: string;
  readonly blocks?: number;
  /** Blocks that no test runs, by how they begin, with the reason. */
  readonly notRun?: Readonly<Record<string, string>>;
}

const examples =
  'examples of single commands, which e2e/cli-commands.nightly.test.ts runs with its own values';
const placeholders = 'a placeholder for values of the reader: the test sets these variables';

/** Every page of the documentation with shell blocks. A unit test refuses pages and blocks that are not listed. */
export const pagesWithCommands: Readonly<Record<string, PageWithCommands>> = {
  'README.md': { test: 'e2e/readme.nightly.test.ts', blocks: 3 },
  'docs/agents/README.md': { test: 'e2e/agent-docs.nightly.test.ts', blocks: 8 },
  'docs/backup-and-restore.md': {
    test: 'e2e/operations-backup.nightly.test.ts',
    blocks: 8,
    notRun: { 'export PGHOST=': placeholders },
  },
  'docs/budgets.md': { test: 'e2e/guides.nightly.test.ts', blocks: 1 },
  'docs/digests.md': {
    notRun: { 'curl -s "$EARSHOT_URL/api.CreateDigest"': 'one request, which e2e/digests.e2e.test.ts makes' },
  },
  'docs/how-to/run-an-agent.md': {
    notRun: { 'pnpm --dir examples install': 'needs a key of a model; e2e/examples runs the same files' },
  },
  'docs/mcp.md': {
    notRun: {
      'export EARSHOT_URL=':
        'needs Claude Code; e2e/claude-plugin.nightly.test.ts calls the tools as its files say',
    },
  },
  'docs/notices.md': { test: 'e2e/guides.nightly.test.ts', blocks: 1 },
  'docs/operations/accounts.md': { test: 'e2e/operations-guides.nightly.test.ts', blocks: 5 },
  'docs/operations/before-you-go-live.md': { test: 'e2e/operations-guides.nightly.test.ts', blocks: 4 },
  'docs/operations/database-restored.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 2 },
  'docs/operations/database-unreachable.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/earshot-down.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/event-log-filling-up.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/event-log-gap.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/event-log-lost.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/event-log-refusing.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/matches-late.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/nats-unreachable.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/requests-failing.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 2 },
  'docs/operations/review-needed.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/source-action-required.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/source-disconnected.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/webhooks-late.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/webhooks-not-delivered.md': { test: 'e2e/runbooks.nightly.test.ts', blocks: 1 },
  'docs/operations/failover.md': { test: 'e2e/operations-failover.nightly.test.ts', blocks: 5 },
  'docs/operations/monitoring.md': { test: 'e2e/operations-guides.nightly.test.ts', blocks: 1 },
  'docs/operations/moving.md': { test: 'e2e/operations-pages.nightly.test.ts', blocks: 3 },
  'docs/operations/rotation.md': { test: 'e2e/rotation.nightly.test.ts', blocks: 10 },
  'docs/operations/several-nodes.md': { test: 'e2e/operations-pages.nightly.test.ts', blocks: 5 },
  'docs/previews.md': { test: 'e2e/guides.nightly.test.ts', blocks: 2 },
  'docs/readers.md': {
    test: 'e2e/guides.nightly.test.ts',
    blocks: 2,
    notRun: {
      'earshot watch': 'never ends; e2e/cli-watch.nightly.test.ts runs it with commands of its own',
    },
  },
  'docs/rules-as-code.md': { test: 'e2e/guides.nightly.test.ts', blocks: 1 },
  'docs/tutorials/agent.md': {
    test: 'e2e/tutorials.nightly.test.ts',
    blocks: 3,
    notRun: { 'export EARSHOT_URL=': placeholders },
  },
  'docs/tutorials/first-match.md': {
    test: 'e2e/tutorials.nightly.test.ts',
    blocks: 5,
    notRun: { 'export EARSHOT_URL=': placeholders },
  },
  'docs/tutorials/webhook-receiver.md': {
    test: 'e2e/tutorials.nightly.test.ts',
    blocks: 7,
    notRun: { 'export EARSHOT_URL=': placeholders },
  },
  'docs/upgrade.md': {
    notRun: { 'earshot admin migrate --plan': examples, 'earshot admin migrate --apply': examples },
  },
  'docs/upstreams/README.md': {
    notRun: { 'pnpm earshot doctor': 'needs tokens of the real platforms; its tests use the sandbox' },
  },
  'docs/webhooks.md': {
    notRun: {
      'curl -s "$EARSHOT_URL/api.CreateWebhook"': 'needs a public address that answers',
      'earshot webhooks create': examples,
      'earshot listen': 'never ends; e2e/cli-watch.nightly.test.ts runs it with a receiver of its own',
    },
  },
};
