/** What each workspace package may import of the others. A package without a row here may import nothing of ours. */
const allowed = {
  'packages/query': [],
  'packages/engines': [],
  'packages/contract': ['packages/query'],
  'packages/sandbox': ['packages/query'],
  'packages/sdk': ['packages/contract'],
  'packages/mcp': ['packages/contract', 'packages/query', 'packages/sdk'],
  'packages/testkit': ['packages/engines'],
  'apps/server': ['packages/contract', 'packages/mcp', 'packages/query', 'packages/sdk'],
  'apps/cli': [
    'packages/contract/src/(platforms|rules-file)\\.ts',
    'packages/engines',
    'packages/mcp',
    'packages/query',
    'packages/sandbox',
    'packages/sdk',
    'apps/server/src/admin\\.ts',
  ],
  e2e: [
    // The table of commands, so that none goes untested.
    'apps/cli/src/commands?\\.ts',
    'packages/contract',
    'packages/engines',
    'packages/sandbox',
    'packages/sdk',
    'packages/testkit',
    // Texts that attack what the server answers.
    'packages/mcp/test/injections/',
    'apps/server/src/admin\\.ts',
    // The names of the points at which a test lets the server crash.
    'apps/server/src/runtime/checkpoint\\.ts',
  ],
};
/** Tests may use these as well, in every package. */
const testing = ['packages/engines', 'packages/sandbox', 'packages/testkit'];
const tests = '(\\.test\\.ts$|/test/)';
const ours = '^(packages/[^/]+|apps/[^/]+|e2e)/';

const server = '^apps/server/src/';
const capabilities = `${server}(accounts|changes|limits|rules|slots|ingest|matching|readers|coverage|usage|language|webhooks)/`;
const foundations = `${server}(runtime|observability)/`;
const wiring = `${server}(main\\.ts|config\\.ts|roles\\.ts|admin\\.ts|compose(\\.ts|/))`;

const packageRules = Object.entries(allowed).flatMap(([name, targets]) => [
  {
    name: `${name}-direction`,
    comment: `${name} imports of ours only: ${targets.join(', ') || 'nothing'}`,
    from: { path: `^${name}/`, pathNot: tests },
    to: { path: ours, pathNot: [name, ...targets].map((target) => `^${target}`) },
  },
  {
    name: `${name}-test-direction`,
    comment: `tests of ${name} may import the testing packages too`,
    from: { path: [`^${name}/test/`, `^${name}/.*${tests}`] },
    to: { path: ours, pathNot: [name, ...targets, ...testing].map((target) => `^${target}`) },
  },
]);

export default {
  forbidden: [
    { name: 'no-cycle', from: {}, to: { circular: true } },
    {
      name: 'no-unresolved',
      comment: 'an import that cannot be followed cannot be checked',
      from: {},
      to: { couldNotResolve: true },
    },
    ...packageRules,
    {
      name: 'sdk-types-only',
      comment: 'the published SDK runs without the contract and without zod',
      from: { path: '^packages/sdk/src/' },
      to: { path: ['^packages/contract/', 'node_modules/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'unlisted-package',
      comment: 'every package has a row in the table above',
      from: { path: ours, pathNot: Object.keys(allowed).map((name) => `^${name}/`) },
      to: { path: '.' },
    },
    {
      name: 'capability-inward',
      comment: 'a capability declares the ports that it needs; the outside is plugged into them',
      from: { path: `${capabilities}|${foundations}`, pathNot: tests },
      to: { path: [`${server}(http|adapters)/`, wiring] },
    },
    {
      name: 'foundations-below-capabilities',
      from: { path: foundations, pathNot: tests },
      to: { path: capabilities },
    },
    {
      name: 'edges-apart',
      comment: 'http/ and adapters/ meet in compose only',
      from: { path: `${server}(http|adapters)/`, pathNot: tests },
      to: { path: [`${server}(http|adapters)/`, wiring], pathNot: `${server}$1/` },
    },
    {
      name: 'adapters-from-compose',
      from: {
        path: server,
        pathNot: [`${server}adapters/`, `${server}compose(\\.ts|/)`, `${server}admin\\.ts`, tests],
      },
      to: { path: `${server}adapters/` },
    },
    {
      name: 'drivers-in-adapters',
      comment: 'adapters/ is the only place that knows the engines’ clients',
      from: { path: server, pathNot: [`${server}adapters/`, tests] },
      to: { path: '(^|/)node_modules/(pg|@nats-io/[^/]+|undici|eventsource-parser)/' },
    },
    {
      name: 'fastify-in-http',
      from: { path: server, pathNot: [`${server}http/`, tests] },
      to: { path: '(^|/)node_modules/(@fastify/[^/]+|fastify)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
