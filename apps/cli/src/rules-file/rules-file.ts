import { allPlatforms as platforms } from '@earshot/contract/platforms';
import { type FileRule, readRulesFile } from '@earshot/contract/rules-file';
import {
  type Diagnostic,
  type JudgedExample,
  judgeExamples,
  languages,
  type Platform,
  renderDiagnostic,
} from '@earshot/query';
import { printableLines } from '../output/printable.ts';
import type { Place, SourceFile } from './source-file.ts';

/** A rule of the file. */
export interface WantedRule {
  readonly key: string;
  readonly name: string;
  readonly intent: string;
  readonly overrides: FileRule['overrides'];
  readonly options: NonNullable<FileRule['options']>;
  readonly acceptSuspicious: boolean;
  readonly expiresAt: string | null;
  readonly budget: NonNullable<FileRule['budget']> | null;
  readonly examples: NonNullable<FileRule['examples']> | null;
  readonly relevance: NonNullable<FileRule['relevance']> | null;
  readonly alerts: NonNullable<FileRule['alerts']> | null;
}

/** A finding about a place of the file, with its rendered text. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly place: Place;
  readonly code: string;
  readonly message: string;
  /** With a caret under the place. */
  readonly rendered: string;
}

export interface CheckedFile {
  readonly set: string;
  readonly rules: readonly WantedRule[];
  /** Findings about the file and its queries, without those of examples. */
  readonly findings: readonly Finding[];
  readonly examples: readonly CheckedExample[];
}

export interface CheckedExample extends JudgedExample {
  readonly key: string;
  readonly place: Place;
  /** Null if the example holds. */
  readonly finding: Finding | null;
}

/** Checks the form, the queries and the examples of the file, without a server. */
export function checkRulesFile(source: SourceFile): CheckedFile {
  const nothing = { set: '', rules: [], examples: [] };
  if (source.problems.length > 0) {
    const findings = source.problems.map(({ place, message }) =>
      aboutLine(source, place, { code: 'yaml', message }),
    );
    return { ...nothing, findings };
  }
  const reading = readRulesFile(source.value);
  if ('problems' in reading) {
    const findings = reading.problems.map(({ path, code, message }) => {
      const isName = code === 'unknown_field' || code === 'extra_override';
      const place = isName ? source.placeOfKey(path) : source.placeOf(path);
      return aboutLine(source, place, { code, message });
    });
    return { ...nothing, findings };
  }
  const { set, rules } = reading.file;
  const wanted = Object.entries(rules).map(([key, rule]) => toWanted(key, rule));
  const checked = wanted.map((rule) => ({ rule, ...checkValues(source, rule) }));
  return {
    set,
    rules: wanted,
    findings: checked.flatMap(({ findings }) => findings),
    examples: checked.flatMap(({ rule, invalid }) => checkExamples(source, rule, invalid)),
  };
}

function toWanted(key: string, rule: FileRule): WantedRule {
  const { name, intent, overrides, options, accept_suspicious, expires_at, budget, examples } = rule;
  const isEmpty = !examples || examples.must_match.length + examples.must_not_match.length === 0;
  return {
    key,
    name: name ?? key,
    intent,
    overrides,
    options: options ?? {},
    acceptSuspicious: accept_suspicious ?? false,
    expiresAt: expires_at ?? null,
    budget: budget ?? null,
    examples: isEmpty ? null : examples,
    relevance: rule.relevance ?? null,
    alerts: rule.alerts ?? null,
  };
}

interface CheckedValues {
  readonly findings: readonly Finding[];
  readonly invalid: ReadonlySet<Platform>;
}

/** Reports an error for every query that CreateRule would refuse. */
function checkValues(source: SourceFile, { key, overrides, acceptSuspicious }: WantedRule): CheckedValues {
  const findings: Finding[] = [];
  const invalid = new Set<Platform>();
  for (const platform of platforms) {
    const value = overrides[platform];
    if (value === undefined) continue;
    for (const diagnostic of languages[platform].validate(value).diagnostics) {
      if (diagnostic.severity === 'hint') continue;
      if (diagnostic.severity === 'error') invalid.add(platform);
      const isRefused =
        diagnostic.severity === 'error' || (diagnostic.severity === 'suspicious' && !acceptSuspicious);
      const severity = isRefused ? 'error' : 'warning';
      const place = source.placeWithin(['rules', key, 'overrides', platform], diagnostic.span[0]);
      findings.push(aboutValue(source, { severity, place, value, diagnostic }));
    }
  }
  return { findings, invalid };
}

function checkExamples(
  source: SourceFile,
  { key, overrides, examples }: WantedRule,
  invalid: ReadonlySet<Platform>,
): CheckedExample[] {
  if (examples === null) return [];
  return judgeExamples(overrides, examples, invalid).map((judged) => {
    const { expectation, index, platform, clause, outcome } = judged;
    const path = ['rules', key, 'examples', expectation, index];
    const severity = outcome === 'undecided' ? 'warning' : 'error';
    const code = outcome === 'undecided' ? 'example_undecided' : 'example_failed';
    const message = `${key}: ${expectation}[${index}]: ${judged.message}`;
    const place = source.placeOf(path);
    if (outcome === 'holds') return { ...judged, key, place, finding: null };
    const diagnostic: Diagnostic = { severity, code, message, span: clause ?? [0, 0], fixes: [] };
    const finding =
      clause === null
        ? aboutLine(source, place, { code, message })
        : aboutValue(source, {
            severity,
            place,
            value: overrides[platform as keyof typeof overrides] ?? '',
            diagnostic,
          });
    return { ...judged, key, place, finding };
  });
}

function aboutValue(
  source: SourceFile,
  about: { severity: Finding['severity']; place: Place; value: string; diagnostic: Diagnostic },
): Finding {
  const { severity, place, value, diagnostic } = about;
  const { code, message } = diagnostic;
  return {
    severity,
    place,
    code,
    message,
    rendered: rendered(source, place, { text: value, diagnostic }),
  };
}

function aboutLine(
  source: SourceFile,
  place: Place,
  { code, message }: { code: string; message: string },
): Finding {
  const line = source.lineAt(place);
  const rest = /^\S*/.exec(line.slice(place.column - 1))?.[0].length ?? 0;
  const span = [place.column - 1, place.column - 1 + Math.max(1, rest)] as const;
  const diagnostic: Diagnostic = { severity: 'error', code, message, span, fixes: [] };
  return {
    severity: 'error',
    place,
    code,
    message,
    rendered: rendered(source, place, { text: line, diagnostic }),
  };
}

/** The file may come from a pull request, so untrusted content is escaped for the terminal. */
function rendered(
  { path }: SourceFile,
  { line, column }: Place,
  { text, diagnostic }: { text: string; diagnostic: Diagnostic },
): string {
  return printableLines(`${path}:${line}:${column}: ${renderDiagnostic(text, diagnostic)}`);
}
