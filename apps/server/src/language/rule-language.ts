import type { AnswerOf, Platform, SyntaxGuide, Violation, WireDiagnostic } from '@earshot/contract';
import type { Diagnostic, Span, Tier } from '@earshot/query';
import { platforms } from '../upstream/platforms.ts';

type WireFix = WireDiagnostic['fixes'][number];

export interface CheckedValue {
  /** No error and no suspicious finding. */
  readonly valid: boolean;
  /** Null when the value has errors. */
  readonly canonical: string | null;
  readonly diagnostics: readonly WireDiagnostic[];
}

/** The operator's plan on each platform; the standard plan if it is missing. */
export type Tiers = Readonly<Partial<Record<Platform, Tier>>>;

/** Everything that the rule language reports about a query, in the terms of the API. */
export function checkValue(platform: Platform, value: string, tiers: Tiers = {}): CheckedValue {
  const { [platform]: tier = 'standard' } = tiers;
  const { valid, canonical, diagnostics } = platforms[platform].language.validate(value, { tier });
  return { valid, canonical, diagnostics: diagnostics.map(toWire) };
}

export function toViolation(platform: Platform, diagnostic: WireDiagnostic): Violation {
  const { severity, code, message, span, fixes } = diagnostic;
  return {
    field: `overrides.${platform}`,
    code,
    message,
    severity: severity === 'suspicious' ? 'suspicious' : 'error',
    span,
    fixes,
  };
}

export function syntaxGuides(listed: readonly Platform[]): AnswerOf<'PlatformSyntax'>['platforms'] {
  const guides: AnswerOf<'PlatformSyntax'>['platforms'] = {};
  for (const platform of listed) guides[platform] = toWireGuide(platform);
  return guides;
}

function toWireGuide(platform: Platform): SyntaxGuide {
  const { platform: _, operators, pitfalls, examples, ...rest } = platforms[platform].language.guide();
  return {
    ...rest,
    operators: operators.map((operator) => ({ ...operator, examples: [...operator.examples] })),
    pitfalls: [...pitfalls],
    examples: [...examples],
  };
}

export function toWireSpan([start, end]: Span): { start: number; end: number } {
  return { start, end };
}

function toWire({ severity, code, message, span, fixes }: Diagnostic): WireDiagnostic {
  const wireFixes = fixes.map(
    (fix): WireFix => ({
      title: fix.title,
      certainty: fix.certainty,
      edits: fix.edits.map((edit) => ({ span: toWireSpan(edit.span), text: edit.text })),
    }),
  );
  return { severity, code, message, span: toWireSpan(span), fixes: wireFixes };
}
