import { judgeExamples } from '@earshot/query';
import { Button } from '../../parts/button.tsx';
import { type Platform, platformNames } from '../../parts/platforms.ts';
import { type Draft, type Example, type Expectation, examplesOf, isBlank, overridesOf } from './draft.ts';
import styles from './editor.module.css';
import { FieldProblems, type Violation } from './field-problems.tsx';
import { languages } from './languages.ts';

interface ExamplesFieldProps {
  readonly draft: Draft;
  readonly violations: readonly Violation[];
  readonly onChange: (examples: Draft['examples']) => void;
}

const titles = { must_match: 'Must match', must_not_match: 'Must not match' };

/** Example posts that the rule must or must not match. They are checked while the user types. */
export function ExamplesField({ draft, violations, onChange }: ExamplesFieldProps) {
  const { chosen, queries } = draft;
  const examples = examplesOf(draft);
  const invalid = new Set(
    chosen.filter((platform) => !languages[platform].validate(queries[platform]).valid),
  );
  const judged = judgeExamples(overridesOf(draft), examples, invalid);
  const [first = 'x'] = chosen;
  const set = (expectation: Expectation, list: readonly Example[]) =>
    onChange({ ...examples, [expectation]: [...list] });
  return (
    <fieldset className={styles.field}>
      <legend className={styles.label}>Examples</legend>
      {(['must_match', 'must_not_match'] as const).map((expectation) => (
        <div key={expectation} className={styles.examples}>
          {examples[expectation].map((example, index) => (
            <ExampleRow
              // Examples have no id, so their position is the key.
              key={`${expectation} ${index.toString()}`}
              title={titles[expectation]}
              example={example}
              chosen={chosen}
              verdict={judged.find((one) => one.expectation === expectation && one.index === index)}
              onChange={(changed) => set(expectation, examples[expectation].with(index, changed))}
              onRemove={() => set(expectation, examples[expectation].toSpliced(index, 1))}
            />
          ))}
          <Button
            onClick={() =>
              set(expectation, [...examples[expectation], { platform: first, payload: { text: '' } }])
            }
          >
            Add an example that {expectation === 'must_match' ? 'must match' : 'must not match'}
          </Button>
        </div>
      ))}
      <FieldProblems violations={violations} field="examples" />
    </fieldset>
  );
}

interface ExampleRowProps {
  readonly title: string;
  readonly example: Example;
  readonly chosen: readonly Platform[];
  readonly verdict: { outcome: string; message: string } | undefined;
  readonly onChange: (example: Example) => void;
  readonly onRemove: () => void;
}

function ExampleRow({ title, example, chosen, verdict, onChange, onRemove }: ExampleRowProps) {
  const { platform, payload } = example;
  return (
    <div className={styles.example} data-outcome={isBlank(example) ? undefined : verdict?.outcome}>
      <span>{title}</span>
      <select
        aria-label="Platform of the example"
        value={platform}
        onChange={({ target }) =>
          onChange({ ...example, platform: chosen.find((one) => one === target.value) ?? platform })
        }
      >
        {chosen.map((one) => (
          <option key={one} value={one}>
            {platformNames[one]}
          </option>
        ))}
      </select>
      <input
        aria-label={`${title}: text`}
        value={payload.text ?? payload.title ?? ''}
        placeholder="Text of a post"
        onChange={({ target }) => onChange({ ...example, payload: { ...payload, text: target.value } })}
      />
      <output>{isBlank(example) ? '– enter a text' : outcomeWords(verdict)}</output>
      <Button kind="plain" aria-label="Remove the example" onClick={onRemove}>
        ×
      </Button>
    </div>
  );
}

function outcomeWords(verdict: ExampleRowProps['verdict']): string {
  if (!verdict) return '– the query has errors';
  if (verdict.outcome === 'holds') return '✓ passes';
  return `${verdict.outcome === 'fails' ? '✗' : '?'} ${verdict.message}`;
}
