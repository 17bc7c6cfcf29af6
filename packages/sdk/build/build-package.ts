import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import ts from 'typescript';
import { describedCalls, describeType } from './describe-types.ts';

const here = resolve(import.meta.dirname, '..');
const sources = join(here, 'src');
const contractTypes = join(sources, 'contract-types.ts');

/** Writes the package for publication: JavaScript and declarations that need nothing else from this repository. */
export async function buildPackage(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const program = ts.createProgram([join(sources, 'index.ts')], await compilerOptions());
  const problems = ts.getPreEmitDiagnostics(program);
  if (problems.length > 0) throw new Error(ts.formatDiagnostics(problems, formatHost));
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${sources}/`));
  for (const file of files) {
    // The compiler rewrites imports only in JavaScript, not in declarations.
    program.emit(file, (path, text) =>
      ts.sys.writeFile(
        join(outDir, basename(path)),
        withDescribedCalls(path, text).replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"),
      ),
    );
  }
  await writeFile(join(outDir, 'contract-types.d.ts'), plainTypes(program));
  await writeFile(join(outDir, 'package.json'), await publishedManifest());
  await copyFile(join(here, 'README.md'), join(outDir, 'README.md'));
  await copyFile(join(here, '../../LICENSE'), join(outDir, 'LICENSE'));
}

const formatHost = {
  getCurrentDirectory: () => here,
  getCanonicalFileName: (name: string) => name,
  getNewLine: () => '\n',
};

async function compilerOptions(): Promise<ts.CompilerOptions> {
  const path = join(here, '../../tsconfig.json');
  const { config } = ts.parseConfigFileTextToJson(path, await readFile(path, 'utf8'));
  const { options, errors } = ts.convertCompilerOptionsFromJson(config.compilerOptions, here);
  if (errors.length > 0) throw new Error(ts.formatDiagnostics(errors, formatHost));
  return {
    ...options,
    noEmit: false,
    declaration: true,
    target: ts.ScriptTarget.ES2022,
    rewriteRelativeImportExtensions: true,
    outDir: join(here, 'dist'),
    rootDir: join(here, '../..'),
  };
}

/** Editors show no comments of a mapped type, so the methods are written out. */
function withDescribedCalls(path: string, text: string): string {
  if (basename(path) !== 'calls.d.ts') return text;
  const mapped = /^export type Calls = \{[^}]*\};$/m;
  if (!mapped.test(text)) throw new Error('calls.d.ts has no type Calls');
  return text.replace(mapped, () => describedCalls());
}

/** The contract's types, expanded, so that the package does not depend on the contract. */
function plainTypes(program: ts.Program): string {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(contractTypes);
  const module = source && checker.getSymbolAtLocation(source);
  if (!source || !module) throw new Error(`${contractTypes} is not part of the program`);
  const { NoTruncation, InTypeAlias, MultilineObjectLiterals } = ts.NodeBuilderFlags;
  const flags: ts.NodeBuilderFlags = NoTruncation | InTypeAlias | MultilineObjectLiterals;
  const printer = ts.createPrinter();
  return checker
    .getExportsOfModule(module)
    .map((symbol) => {
      const node = checker.typeToTypeNode(checker.getDeclaredTypeOfSymbol(symbol), undefined, flags);
      if (!node) throw new Error(`${symbol.name} cannot be written out`);
      describeType(symbol.name, node);
      return `export type ${symbol.name} = ${printer.printNode(ts.EmitHint.Unspecified, node, source)};\n`;
    })
    .join('\n');
}

async function publishedManifest(): Promise<string> {
  const { name, version, license, description, type, engines } = JSON.parse(
    await readFile(join(here, 'package.json'), 'utf8'),
  );
  const exports = { '.': { types: './index.d.ts', default: './index.js' } };
  const manifest = { name, version, description, license, type, engines, exports, sideEffects: false };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
