import { globSync, readFileSync } from 'node:fs';
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

test('every action has an exact version, and jobs that may write declare it themselves', () => {
  for (const path of globSync('.github/workflows/*.yml', { cwd: root })) {
    const text = read(path);
    const used = [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action);
    expect(used).not.toEqual([]);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@v\d+\.\d+\.\d+$/);
    expect(text).toMatch(/^permissions:\n {2}contents: read\n$/m);
  }
});

test('the workflows run scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const texts = globSync('.github/workflows/*.yml', { cwd: root }).map(read);
  const called = texts.flatMap((text) => [...text.matchAll(/\.\/dev (?:--silent )?([\w:]+)/g)]);
  const names = called.map(([, script = '']) => script);
  expect(names.toSorted()).toEqual(['bom', 'release:pack', 'test:mutations']);
  for (const name of names) expect(scripts).toHaveProperty(name);
});
