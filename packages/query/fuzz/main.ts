import { parseArgs } from 'node:util';
import { firehoseLanguage } from '../src/firehose/language.ts';
import type { Language } from '../src/language.ts';
import { xLanguage } from '../src/x/language.ts';
import { type ExpensiveOptions, findExpensive } from './expensive.ts';
import { firehoseSeeds, xSeeds } from './expensive-seeds.ts';
import { firehoseInputs } from './firehose-inputs.ts';
import { fuzz } from './harness.ts';
import { xInputs } from './x-inputs.ts';

/**
 * Usage: node packages/query/fuzz/main.ts [--platform x|firehose] [--inputs 1000000] [--seed 1] [--expensive]
 * With --expensive it searches for rules and items whose evaluation takes long.
 */
interface Chosen {
  readonly language: Language;
  readonly inputs: (seed: number) => (round: number) => string;
  readonly seeds: ExpensiveOptions['seeds'];
}

const platforms: Readonly<Record<string, Chosen>> = {
  x: { language: xLanguage, inputs: xInputs, seeds: xSeeds },
  firehose: { language: firehoseLanguage, inputs: firehoseInputs, seeds: firehoseSeeds },
};

const { values } = parseArgs({
  options: {
    platform: { type: 'string', default: 'x' },
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    expensive: { type: 'boolean', default: false },
  },
});

const chosen = platforms[values.platform];
if (chosen === undefined) throw new Error(`--platform is one of ${Object.keys(platforms).join(', ')}`);
const started = performance.now();
if (values.expensive) searchExpensive(chosen);
else fuzzTexts(chosen);

function searchExpensive({ language, seeds }: Chosen): void {
  const { worstMs, worst, failures } = findExpensive({
    language,
    seeds,
    pairs: Number(values.inputs),
    seed: Number(values.seed),
  });
  process.stdout.write(
    [
      `${values.platform}: ${values.inputs} pairs, seed ${values.seed}, ${((performance.now() - started) / 1000).toFixed(0)} s`,
      `worst evaluation ${worstMs.toFixed(2)} ms (${JSON.stringify(worst).slice(0, 200)})`,
      ...failures.map((failure) => `FAILED ${failure}`),
      '',
    ].join('\n'),
  );
  if (failures.length > 0 || worstMs > 50) process.exitCode = 1;
}

function fuzzTexts({ language, inputs, seeds }: Chosen): void {
  const summary = fuzz({
    language,
    input: inputs(Number(values.seed)),
    inputs: Number(values.inputs),
    item: seeds[0]?.item,
    onProgress: (done) => process.stderr.write(`\r${done} of ${values.inputs}`),
  });
  const share = (100 * summary.fixesThatRemove) / Math.max(1, summary.fixesOffered);
  process.stderr.write('\n');
  process.stdout.write(
    [
      `${values.platform}: ${summary.inputs} inputs, seed ${values.seed}, ${((performance.now() - started) / 1000).toFixed(0)} s`,
      `p99.9 ${summary.p999Ms.toFixed(3)} ms, worst ${summary.worstMs.toFixed(1)} ms, as ${summary.worstInPlainTexts.toFixed(1)} plain texts (${JSON.stringify(summary.worstInput.slice(0, 60))})`,
      `worst evaluation ${summary.worstEvaluationMs.toFixed(2)} ms`,
      `fixes: ${summary.fixesThatRemove} of ${summary.fixesOffered} remove their finding (${share.toFixed(2)} %)`,
      ...[...summary.stubborn].map(
        ([code, { times, example }]) =>
          `  ${code}: ${times} do not, as in ${JSON.stringify(example.slice(0, 200))}`,
      ),
      ...summary.failures.map((failure) => `FAILED ${failure}`),
      '',
    ].join('\n'),
  );
  if (summary.failures.length > 0) process.exitCode = 1;
}
