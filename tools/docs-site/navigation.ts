/** The sections of the site, in the order of its navigation. */
export const sections = [
  'Start',
  'Concepts',
  'Guides',
  'Cookbook',
  'Operate',
  'Reference',
  'Troubleshooting',
  'Contributing',
] as const;
export type Section = (typeof sections)[number];

export interface Group {
  readonly section: Section;
  /** A part of its section that is collapsed. Without a name, its pages are directly in the section. */
  readonly name?: string;
  /** Paths in the repository, with `*` for a name, in the order of the navigation. */
  readonly paths: readonly string[];
}

/** Names of pages in the navigation, where the title alone does not identify the page. */
export const labels: Readonly<Record<string, string>> = {
  'README.md': 'What Earshot is',
  'packages/n8n-nodes-earshot/README.md': 'Nodes for n8n',
  'packages/sdk/README.md': 'SDK for JavaScript',
  'packages/query/README.md': 'Parsers of the rule languages',
  'packages/sandbox/README.md': 'Sandbox',
  'docs/errors/README.md': 'All codes',
  'docs/adr/README.md': 'All decisions',
};

/** The group of every page. A page without a group fails the build. */
export const groups: readonly Group[] = [
  {
    section: 'Start',
    paths: [
      'README.md',
      'docs/tutorials/first-match.md',
      'docs/faq.md',
      'docs/comparison.md',
      'docs/not-tested.md',
    ],
  },
  { section: 'Concepts', paths: ['docs/concepts.md'] },
  {
    section: 'Guides',
    paths: [
      'docs/tokens.md',
      'docs/cost.md',
      'docs/readers.md',
      'docs/relevance.md',
      'docs/stories.md',
      'docs/alerts.md',
      'docs/webhooks.md',
      'docs/tutorials/webhook-receiver.md',
      'docs/digests.md',
      'docs/feeds.md',
      'docs/exports.md',
      'docs/agents.md',
      'docs/untrusted-content.md',
      'skills/earshot/SKILL.md',
      'docs/rules-as-code.md',
      'docs/console.md',
      'packages/n8n-nodes-earshot/README.md',
      'packages/sdk/README.md',
      'sdks/python/README.md',
    ],
  },
  { section: 'Cookbook', paths: ['docs/cookbook.md'] },
  {
    section: 'Operate',
    paths: [
      'docs/operations/README.md',
      'docs/operations/install.md',
      'docs/operations/proxy-and-tls.md',
      'docs/upstreams/terms.md',
      'docs/operations/before-you-go-live.md',
      'docs/bluesky.md',
      'docs/operations/accounts.md',
      'docs/operations/monitoring.md',
      'docs/operations/sizing.md',
      'docs/scale.md',
      'docs/operations/several-nodes.md',
      'docs/operations/failover.md',
      'docs/backup-and-restore.md',
      'docs/upgrade.md',
      'docs/operations/moving.md',
      'docs/operations/rotation.md',
      'SECURITY.md',
    ],
  },
  // The pages that deploy/alerts.yaml links to.
  { section: 'Operate', name: 'Alerts', paths: ['docs/operations/*.md'] },
  {
    section: 'Reference',
    paths: [
      'docs/api.md',
      'docs/cli.md',
      'docs/mcp.md',
      'docs/rule-languages.md',
      'docs/invariants.md',
      'docs/sources.md',
      'docs/notices.md',
      'docs/configuration.md',
      'docs/operations/metrics.md',
    ],
  },
  { section: 'Reference', name: 'Errors', paths: ['docs/errors/README.md', 'docs/errors/*.md'] },
  { section: 'Troubleshooting', paths: ['docs/troubleshooting.md'] },
  {
    section: 'Contributing',
    paths: [
      'CONTRIBUTING.md',
      'ARCHITECTURE.md',
      'STYLE.md',
      'docs/how-to/*.md',
      'packages/query/README.md',
      'packages/sandbox/README.md',
      'docs/dependencies.md',
      'CHANGELOG.md',
    ],
  },
  {
    section: 'Contributing',
    name: 'X and Firehose',
    paths: ['docs/upstreams/README.md', 'docs/upstreams/*.md'],
  },
  { section: 'Contributing', name: 'Decisions', paths: ['docs/adr/README.md', 'docs/adr/*.md'] },
];

/** The group that names the page, or else the one with a pattern for it. */
export function groupOf(path: string): Group | undefined {
  return (
    groups.find(({ paths }) => paths.includes(path)) ??
    groups.find(({ paths }) => paths.some((pattern) => isLike(path, pattern)))
  );
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
