import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type OperationId, operations } from '@earshot/contract';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPackage } from '../build/build-package.ts';
import { createEarshot } from '../src/index.ts';
import { json, startAnsweringServer } from './answering-server.ts';

const run = promisify(execFile);
const here = resolve(import.meta.dirname, '..');
const patiently = 120_000;
let dir: string;
/** Creates a folder in which `@earshot/sdk` is found, as after an installation. */
let built: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-sdk-'));
  built = join(dir, 'node_modules/@earshot/sdk');
  await buildPackage(built);
}, patiently);
afterAll(() => rm(dir, { recursive: true, force: true }));

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: built, strict: true, pack: false });
  expect(messages).toEqual([]);
});

test('every import style finds the types', { timeout: patiently }, async () => {
  await run('tar', ['-czf', 'sdk.tgz', '--transform', 's,^sdk,package,', '-C', join(built, '..'), 'sdk'], {
    cwd: dir,
  });
  const attw = join(here, 'node_modules/.bin/attw');
  const { stdout } = await run(attw, [join(dir, 'sdk.tgz'), '--profile', 'esm-only', '--format', 'json']);
  const { analysis } = JSON.parse(stdout);
  expect(analysis).toMatchObject({ packageName: '@earshot/sdk', types: { kind: 'included' } });
  // The package has only ES modules. CommonJS must `import()` it, or needs Node 22, which can require it.
  expect(analysis.problems).toEqual([
    { kind: 'CJSResolvesToESM', entrypoint: '.', resolutionKind: 'node16-cjs' },
  ]);
});

test('the package imports only its own files', async () => {
  const files = (await readdir(built)).filter((name) => /\.(js|d\.ts)$/.test(name));
  expect(files).toContain('index.d.ts');
  for (const name of files) {
    const text = await readFile(join(built, name), 'utf8');
    const imports = Array.from(text.matchAll(/(?:from |import\(?)\s*['"]([^'"]+)['"]/g), ([, to = '']) => to);
    for (const to of imports) expect(files).toContain(to.replace(/^\.\//, ''));
  }
});

test('every field of a request or an answer has a doc comment', async () => {
  const text = await readFile(join(built, 'contract-types.d.ts'), 'utf8');
  const source = ts.createSourceFile('contract-types.d.ts', text, ts.ScriptTarget.Latest, true);
  // Internal types of the SDK.
  const own = ['Operations', 'Retryable'];
  const [bare, commented]: [string[], string[]] = [[], []];
  const visit = (node: ts.Node, path: string): void => {
    const here = ts.isPropertySignature(node) ? `${path}.${node.name.getText()}` : path;
    if (here !== path) (ts.getJSDocCommentsAndTags(node).length > 0 ? commented : bare).push(here);
    ts.forEachChild(node, (child) => visit(child, here));
  };
  for (const type of source.statements.filter((statement) => ts.isTypeAliasDeclaration(statement)))
    if (!own.includes(type.name.text)) visit(type, type.name.text);
  expect(bare).toEqual([]);
  expect(commented).toEqual(
    expect.arrayContaining([
      'Requests.ListMatches.wait_seconds',
      'Answers.ListRules.next_cursor',
      'Rule.intent',
    ]),
  );
});

test('an editor shows the description of every method', async () => {
  const path = join(dir, 'hover.mts');
  const {
    followMatches: _,
    followNotices: __,
    consumeMatches: ___,
    ...calls
  } = createEarshot({
    url: 'http://localhost',
  });
  const methods = Object.keys(calls);
  const text = [
    `import { createEarshot } from '@earshot/sdk';`,
    `const earshot = createEarshot({ url: 'http://localhost' });`,
    ...methods.map((name) => `earshot.${name};`),
  ].join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const found = file === path ? text : ts.sys.readFile(file);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCurrentDirectory: () => dir,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => file === path || ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
  });
  expect(methods.length).toBeGreaterThan(30);
  for (const name of methods) {
    const shown = service.getQuickInfoAtPosition(path, text.indexOf(`earshot.${name};`) + 'earshot.'.length);
    const { summary } = operations[`${name.charAt(0).toUpperCase()}${name.slice(1)}` as OperationId];
    const comment = ts.displayPartsToString(shown?.documentation);
    expect({ name, starts: comment.slice(0, summary.length + 1) }).toEqual({ name, starts: `${summary}.` });
  }
});

test('the built modules run', async () => {
  await using server = await startAnsweringServer(json(200, { keys: [] }));
  const script = `import { createEarshot } from '@earshot/sdk';
    console.log(await createEarshot({ url: '${server.url}', key: 'esk_1' }).listKeys());`;
  await writeFile(join(dir, 'run.mjs'), script);
  const { stdout } = await run('node', [join(dir, 'run.mjs')]);
  expect(stdout).toBe('{ keys: [] }\n');
  expect(server.requests).toHaveLength(1);
});

test('the minified bundle has at most 15 KB gzipped', async () => {
  const bundle = await rolldown({ input: join(built, 'index.js'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  const bytes = gzipSync(output[0].code).length;
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThanOrEqual(15 * 1024);
});

test('the examples of the README compile with the published types, for Node and browsers', {
  timeout: patiently,
}, async () => {
  const readme = await readFile(join(here, 'README.md'), 'utf8');
  const examples = Array.from(readme.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = '']) => code);
  expect(examples).toHaveLength(4);
  const files = examples.map((_, index) => join(dir, `example-${index}.mts`));
  for (const [index, code] of examples.entries()) await writeFile(files[index] ?? '', code);
  const usesNode = (index: number) => examples[index]?.includes('node:');
  expect(problemsOf(files, 'node')).toBe('');
  expect(
    problemsOf(
      files.filter((_, index) => !usesNode(index)),
      'browser',
    ),
  ).toBe('');

  const wrong = join(dir, 'wrong.mts');
  await writeFile(
    wrong,
    "import { createEarshot } from '@earshot/sdk';\ncreateEarshot({ url: 1, key: '' }).getRule({});\n",
  );
  expect(problemsOf([wrong], 'browser')).toMatch(/TS2322[\s\S]*TS2345/);
});

function problemsOf(files: readonly string[], where: 'node' | 'browser'): string {
  const inNode = where === 'node';
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    // Skips the large libraries of TypeScript itself.
    skipDefaultLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: inNode ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution: inNode ? ts.ModuleResolutionKind.NodeNext : ts.ModuleResolutionKind.Bundler,
    lib: inNode ? ['lib.es2022.d.ts'] : ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    typeRoots: [join(here, '../../node_modules/@types')],
    types: inNode ? ['node'] : [],
  });
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), {
    getCurrentDirectory: () => dir,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  });
}
