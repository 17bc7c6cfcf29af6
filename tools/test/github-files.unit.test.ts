import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const yaml: { parse(text: string): unknown } = createRequire(join(root, 'apps/cli/package.json'))('yaml');

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The violations of GitHub's published schema. */
function problemsOf(schemaName: string, text: string): unknown[] {
  // Ajv does not support the oldest draft; the schema uses nothing that only this draft has.
  const { $schema: _, ...schema } = JSON.parse(read(`tools/test/schemas/${schemaName}.json`));
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  return validate(yaml.parse(text)) ? [] : (validate.errors ?? []);
}

const kinds = [
  { schema: 'github-workflow', files: '.github/workflows/*.yml', count: 3, wrong: ['runs-on:', 'runs-in:'] },
  { schema: 'dependabot-2.0', files: '.github/dependabot.yml', count: 1, wrong: ['weekly', 'sometimes'] },
  {
    schema: 'github-issue-config',
    files: '.github/ISSUE_TEMPLATE/config.yml',
    count: 1,
    wrong: ['true', '7'],
  },
  {
    schema: 'github-issue-forms',
    files: '.github/ISSUE_TEMPLATE/!(config).yml',
    count: 2,
    wrong: ['type: textarea', 'type: novel'],
  },
] as const;

test.each(kinds)("$files match GitHub's schema", ({ schema, files, count, wrong: [right, wrong] }) => {
  const paths = globSync(files, { cwd: root });
  expect(paths).toHaveLength(count);
  for (const path of paths) {
    const text = read(path);
    expect(problemsOf(schema, text)).toEqual([]);
    // Control: the schema rejects a mistake.
    expect(problemsOf(schema, text.replace(right, wrong))).not.toEqual([]);
  }
});

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}
interface Job {
  readonly permissions?: unknown;
  readonly environment?: string;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: object }[];
}
const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((path) => {
  const text = read(path);
  return { path, text, ...(yaml.parse(text) as Workflow) };
});

test('every action is pinned to a commit, with its version in a comment', () => {
  for (const { text } of workflows) {
    const used = [...text.matchAll(/uses: (.+)/g)].map(([, action = '']) => action);
    expect(used).not.toEqual([]);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

test('workflows may only read, except for the two jobs that publish', () => {
  for (const { permissions } of workflows) expect(permissions).toEqual({ contents: 'read' });
  const more = workflows.flatMap(({ path, jobs }) =>
    Object.entries(jobs)
      .filter(([, { permissions = {} }]) => Object.values(Object(permissions)).includes('write'))
      .map(([name, { permissions }]) => [path, name, permissions]),
  );
  expect(more).toEqual([
    ['.github/workflows/release.yml', 'packages', { contents: 'read', 'id-token': 'write' }],
    ['.github/workflows/release.yml', 'publish', { contents: 'write' }],
  ]);
});

test('what publishes outside of GitHub waits for the approval of the environment', () => {
  const publishes = /id-token: write|secrets\.|npm publish/;
  for (const { text, jobs } of workflows) {
    for (const [name, job] of Object.entries(jobs)) {
      const [, lines = ''] = new RegExp(`^  ${name}:\\n((?: {4}.*\\n|\\n)*)`, 'm').exec(text) ?? [];
      expect(lines).not.toBe('');
      if (publishes.test(lines)) expect(job).toHaveProperty('environment', 'release');
    }
  }
});

test('every image has its provenance and bill of materials', () => {
  const steps = workflows.flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
  const builds = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'));
  expect(builds).toHaveLength(2);
  for (const build of builds) expect(build.with).toMatchObject({ provenance: 'mode=max', sbom: true });
});

test('the workflows run programs and scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const commands = workflows.flatMap(({ jobs }) =>
    Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? [])),
  );
  const called = commands.flatMap((command) => [
    ...command.matchAll(/(\.\/dev|\.ci\/\w+)(?: (?:--silent )?([\w:]+))?/g),
  ]);
  const programs = called.map(([, program = '']) => program);
  expect(new Set(programs)).toEqual(new Set(['./dev', '.ci/run']));
  for (const program of programs) expect(existsSync(join(root, program))).toBe(true);
  const names = called.map(([, , script = '']) => script).filter((script) => script !== '');
  expect(names.toSorted()).toEqual(['bom', 'release:pack', 'test:mutations']);
  for (const name of names) expect(scripts).toHaveProperty(name);
});
