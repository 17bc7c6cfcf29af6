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
    'packages/contract/src/(budgets|platforms|rules-file|scopes|times)\\.ts',
    'packages/engines',
    'packages/mcp',
    'packages/query',
    'packages/sandbox',
    'packages/sdk',
    'apps/server/src/admin\\.ts',
  ],
  'apps/console': [
    'packages/contract',
    'packages/query',
    'packages/sdk',
    // Untrusted content is shown to people as to agents: with nothing hidden.
    'packages/mcp/src/content/visible\\.ts',
  ],
  e2e: [
    // The table of commands, so that none goes untested.
    'apps/cli/src/(commands?|main)\\.ts',
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
/** And these the tests of one. */
const testingOf = {
  'apps/console': ['e2e/src/', 'packages/mcp/test/injections/'],
};
const tests = '(\\.test\\.ts$|/test/)';
const ours = '^(packages/[^/]+|apps/[^/]+|e2e)/';

const server = '^apps/server/src/';
const capabilities = `${server}(accounts|notices|rules|slots|billing|ingest|stories|matching|readers|coverage|estimates|budgets|webhooks|digests|oauth|relevance|judge|alerts|removals|feeds|exports|archives)/`;
/** Everything a capability stands on, the topmost first: each may import only what comes after it. */
const layers = ['event-log', 'language', 'upstream', 'engines', 'runtime', 'observability'];
const below = `${server}(${layers.join('|')})/`;
const wiring = `${server}(main\\.ts|admin\\.ts|config/|compose/)`;

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
    to: {
      path: ours,
      pathNot: [name, ...targets, ...testing, ...(testingOf[name] ?? [])].map((target) => `^${target}`),
    },
  },
]);

const layerRules = layers.map((layer, index) => ({
  name: `${layer}-downward`,
  comment: `what ${layer}/ stands on does not stand on it`,
  from: { path: `${server}${layer}/`, pathNot: tests },
  to: { path: [capabilities, ...layers.slice(0, index).map((above) => `${server}${above}/`)] },
}));

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
    ...layerRules,
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
      comment: 'what is inside does not know who calls it, or how it is put together',
      from: { path: `${capabilities}|${below}`, pathNot: tests },
      to: { path: [`${server}http/`, wiring] },
    },
    {
      name: 'http-apart',
      comment: 'http/ calls capabilities; engines, the log and upstreams are theirs',
      from: { path: `${server}http/`, pathNot: tests },
      to: { path: [`${server}(event-log|upstream|engines)/`, wiring] },
    },
    {
      name: 'drivers-in-engines',
      comment: 'engines/ and event-log/ are the only places that know the clients of PostgreSQL and NATS',
      from: { path: server, pathNot: [`${server}(engines|event-log)/`, tests] },
      to: { path: '(^|/)node_modules/(pg|@nats-io/[^/]+)/' },
    },
    {
      name: 'outgoing-http',
      comment:
        'requests leave through the clients of the upstreams and of the judge, the sender of webhooks, archives and what reads the metadata of OAuth',
      from: { path: server, pathNot: [`${server}(upstream|webhooks|oauth|judge|archives)/`, tests] },
      to: { path: '(^|/)node_modules/undici/' },
    },
    {
      name: 'mail-in-digests',
      from: { path: server, pathNot: [`${server}digests/`, tests] },
      to: { path: '(^|/)node_modules/nodemailer/' },
    },
    {
      name: 'authorization-in-oauth',
      from: { path: server, pathNot: [`${server}oauth/`, tests] },
      to: { path: '(^|/)node_modules/oidc-provider/' },
    },
    {
      name: 'fastify-in-http',
      from: { path: server, pathNot: [`${server}http/`, tests] },
      to: { path: '(^|/)node_modules/(@fastify/[^/]+|fastify)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports packages that only `pnpm test:examples` installs; n8n's linter looks at what it imports.
    exclude: { path: ['/dist/', '^packages/n8n-nodes-earshot/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
