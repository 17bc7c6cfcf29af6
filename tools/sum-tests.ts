import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestResults } from './test-results.ts';

/** `node tools/sum-tests.ts <folder>`: the slowest files, skipped and failed tests, and the total of all runs as the last line. */
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
const failed = runs.flatMap((run) => run.failed);
for (const name of failed) console.log(`failed: ${name}`);
const passed = runs.reduce((total, run) => total + run.passed, 0);
console.log(
  `${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
);
if (passed === 0 || failed.length > 0) process.exitCode = 1;
