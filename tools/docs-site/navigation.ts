/** The four kinds of Diátaxis: tutorials, how-to guides, reference, explanation. */
export const kinds = ['Tutorials', 'How-to guides', 'Reference', 'Explanation'] as const;
export type Kind = (typeof kinds)[number];

export interface Group {
  readonly kind: Kind;
  /** Unique among the groups of one kind. */
  readonly name: string;
  /** Paths in the repository, with `*` for a name, in the order of the navigation. */
  readonly paths: readonly string[];
}

/** The group of every page. If several groups match a page, the first one wins. A page without a group fails the build. */
export const groups: readonly Group[] = [
  { kind: 'Tutorials', name: 'Tutorials', paths: ['docs/tutorials/*.md'] },
  {
    kind: 'How-to guides',
    name: 'Use it',
    paths: [
      'docs/agents/README.md',
      'docs/how-to/run-an-agent.md',
      'docs/readers.md',
      'docs/webhooks.md',
      'docs/digests.md',
      'packages/n8n-nodes-earshot/README.md',
      'docs/cookbook.md',
      'docs/rules-as-code.md',
      'docs/cost.md',
      'docs/troubleshooting.md',
      'docs/console.md',
      'skills/earshot/SKILL.md',
    ],
  },
  {
    kind: 'Reference',
    name: 'Interfaces',
    paths: [
      'docs/api.md',
      'docs/cli.md',
      'docs/mcp.md',
      'packages/sdk/README.md',
      'docs/configuration.md',
      'docs/operations/metrics*.md',
      'docs/notices.md',
      'docs/sources.md',
      'docs/glossary.md',
    ],
  },
  {
    kind: 'Reference',
    name: 'Alerts',
    // The pages that deploy/alerts.yaml links to; see `groupOf`.
    paths: [],
  },
  {
    kind: 'How-to guides',
    name: 'Run it',
    paths: [
      'docs/operations/README.md',
      'docs/operations/install*.md',
      'docs/tokens.md',
      'docs/operations/before-you-go-live.md',
      'docs/operations/sizing.md',
      'docs/operations/several-nodes.md',
      'docs/scale.md',
      'docs/backup-and-restore.md',
      'docs/operations/failover.md',
      'docs/upgrade.md',
      'docs/operations/moving.md',
      'docs/operations/*.md',
    ],
  },
  { kind: 'How-to guides', name: 'Change it', paths: ['CONTRIBUTING.md', 'docs/how-to/*.md'] },
  { kind: 'Reference', name: 'Errors', paths: ['docs/errors/README.md', 'docs/errors/*.md'] },
  { kind: 'Reference', name: 'Platforms', paths: ['docs/upstreams/README.md', 'docs/upstreams/*.md'] },
  {
    kind: 'Reference',
    name: 'Project',
    paths: ['CHANGELOG.md', 'packages/query/README.md', 'packages/sandbox/README.md', 'docs/dependencies.md'],
  },
  {
    kind: 'Explanation',
    name: 'How it works',
    paths: [
      'README.md',
      'docs/faq.md',
      'docs/comparison.md',
      'docs/invariants.md',
      'docs/not-tested.md',
      'docs/untrusted-content.md',
      'SECURITY.md',
      'ARCHITECTURE.md',
      'STYLE.md',
    ],
  },
  { kind: 'Explanation', name: 'Decisions', paths: ['docs/adr/README.md', 'docs/adr/*.md'] },
];

/** The page of an alert is reference; every other page in docs/operations is a guide. */
export function groupOf(path: string, alertPages: ReadonlySet<string>): Group | undefined {
  if (alertPages.has(path)) return groups.find(({ name }) => name === 'Alerts');
  return groups.find(({ paths }) => paths.some((pattern) => isLike(path, pattern)));
}

/** The position of a page in its group. */
export function placeIn(group: Group, path: string): number {
  return group.paths.findIndex((pattern) => isLike(path, pattern));
}

function isLike(path: string, pattern: string): boolean {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return path === pattern;
  return path.startsWith(before) && path.endsWith(after) && !path.slice(before.length).includes('/');
}
