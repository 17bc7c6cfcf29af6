import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestResults } from './test-results.ts';

/** `node tools/sum-tests.ts <folder>`: the slowest files, what was skipped, and as the last line the sum of all runs. */
const slowest = 15;

const dir = process.argv[2] ?? '';
const runs = readdirSync(dir).map((name): TestResults => JSON.parse(readFileSync(join(dir, name), 'utf8')));

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(6)} s`;
const files = runs.flatMap((run) => run.files).toSorted((a, b) => b.ms - a.ms);
const allMs = files.reduce((sum, { ms }) => sum + ms, 0);
console.log(`── the ${slowest} slowest of ${files.length} files`);
for (const { file, ms } of files.slice(0, slowest)) console.log(`${seconds(ms)}  ${file}`);
console.log(`${seconds(allMs)}  all files together`);

const skipped = runs.flatMap((run) => run.skipped);
for (const name of skipped) console.log(`skipped: ${name}`);
const sum = (of: (run: TestResults) => number) => runs.reduce((total, run) => total + of(run), 0);
const passed = sum((run) => run.passed);
const failed = sum((run) => run.failed);
console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
if (passed === 0 || failed > 0) process.exitCode = 1;
