import type { Span } from '../../ast.ts';
import { certain, error, type Fix, replacement } from '../../diagnostics.ts';
import type { ValueKind } from '../operator.ts';
import type { LeafRule } from './rule.ts';

const expectations: Partial<Record<ValueKind, string>> = {
  count: 'a whole number (at least so many) or a range a..b',
  integer: 'a whole number',
  sample: 'a whole number from 1 to 100',
  fraction: 'a number from 0.0 to 1.0',
};

/** Counts, `sample:` percentages and thresholds. */
export const numberValue: LeafRule = (leaf, view) => {
  const kind = view.dialect.findOperator(leaf.field)?.value ?? 'count';
  if (leaf.valueSpan[0] === leaf.valueSpan[1]) return;
  const { test } = leaf;
  const report = (message: string, fixes: readonly Fix[]): void => {
    view.report(error('bad_number', message, leaf.valueSpan, fixes));
  };
  if (test.type !== 'number') {
    const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
    const meant = meantNumber(written, kind);
    report(
      `${leaf.field}: takes ${expectations[kind] ?? 'a number'}.`,
      meant === null ? [] : [numberFix(leaf.valueSpan, written, meant)],
    );
  } else if (test.high !== null && test.low !== null && test.low > test.high) {
    const swapped = `${test.high}..${test.low}`;
    report('The range runs backwards: the smaller number comes first.', [
      replacement(`Write ${swapped}`, leaf.valueSpan, swapped),
    ]);
  } else if (kind === 'sample' && test.low !== null && (test.low < 1 || test.low > 100)) {
    const nearest = test.low < 1 ? '1' : '100';
    report('sample: takes a whole number from 1 to 100.', [
      replacement(`Write ${nearest}`, leaf.valueSpan, nearest),
    ]);
  }
};

/** `10k`, `1,000`, `10%` and `100-500` can mean one thing only; `>1000` may be meant without the bound. */
function numberFix(span: Span, written: string, meant: string): Fix {
  const fix = replacement(`Write ${meant}`, span, meant);
  return /^[\d,_]+[km%]?$|^\d+(?:-|\.{2,3}|:)\d+$/i.test(written) ? certain(fix) : fix;
}

/** Offers the number for `>1,000`, `10k`, `100-500` and `10%`. */
function meantNumber(written: string, kind: ValueKind): string | null {
  const plain = written.replaceAll(/[,_+=%>"]/g, '').toLowerCase();
  const range = /^(\d{1,15})(?:-|\.{2,3}|:)(\d{1,15})$/.exec(plain);
  if (kind === 'count' && range !== null) {
    const [low, high] = [Number(range[1]), Number(range[2])];
    return `${Math.min(low, high)}..${Math.max(low, high)}`;
  }
  if (kind === 'sample' && /^\d{1,3}\.\d+$/.test(plain))
    return String(Math.min(100, Math.max(1, Math.round(Number(plain)))));
  if (kind === 'fraction') return /^\.\d{1,6}$/.test(plain) ? `0${plain}` : null;
  const number = /^(\d{1,9})(k|m)?(?:\.\.)?$/.exec(plain);
  if (number === null) return null;
  const value = Number(number[1]) * (number[2] === 'm' ? 1_000_000 : number[2] === 'k' ? 1000 : 1);
  return kind === 'sample' ? String(Math.min(100, Math.max(1, value))) : String(value);
}
