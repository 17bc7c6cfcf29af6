import type { Diagnostic } from '../diagnostics.ts';

/**
 * The messages with which X refuses a rule, as far as they are known (x.md §10.4), for an emulator of X. Positions
 * count from 1. Where no message has been reported, the text is our own.
 */
export function upstreamDetails(text: string, diagnostics: readonly Diagnostic[]): string[] {
  const details = diagnostics
    .filter(({ severity }) => severity === 'error')
    .flatMap((diagnostic) => detailsOf(diagnostic, text));
  return [...new Set(details)];
}

function detailsOf({ code, span, message }: Diagnostic, text: string): string[] {
  const at = `(at position ${span[0] + 1})`;
  const found = text.slice(span[0], Math.min(span[1], span[0] + 40));
  switch (code) {
    case 'only_negations':
    case 'negated_or_branch':
      return [
        `Rules must contain a non-negation term ${at}`,
        `Rules must contain at least one positive, non-stopword clause ${at}`,
      ];
    case 'ambiguous_and':
      return [
        `Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "and" to find occurrences of and in text ${at}`,
      ];
    case 'unknown_operator':
    case 'unsupported_operator':
      return [
        `Reference to invalid operator '${operatorName(found)}' ${at}`,
        `Reference to invalid field '${operatorName(found)}' ${at}`,
      ];
    case 'unavailable_operator':
      return [
        `Reference to invalid operator '${operatorName(found)}'. Operator is not available in current product or product packaging ${at}`,
      ];
    case 'needs_standalone':
      return [`The '${operatorName(found)}' operator cannot be used as a standalone operator ${at}`];
    case 'unmatched_parenthesis':
      return [`missing EOF at ')' ${at}`];
    case 'unclosed_parenthesis':
      return [`mismatched input 'EOF' expecting ')' (at position ${text.length + 1})`];
    case 'single_quotes':
    case 'curly_quotes':
    case 'bad_character':
    case 'wrong_dash':
      return [`no viable alternative at character '${found.slice(0, 1)}' ${at}`];
    case 'sample_needs_group':
      return [`All ORed clauses must be grouped in parentheses when the sample operator is used ${at}`];
    case 'unquoted_punctuation':
    case 'or_without_operand':
    case 'empty_group':
    case 'dangling_minus':
    case 'space_after_minus':
    case 'unclosed_quote':
    case 'escaped_quotes':
    case 'foreign_syntax':
      return [`no viable alternative at input '${found}' ${at}`];
    default:
      return valueCodes.has(code)
        ? [`Cannot parse rule at '${found}' (position ${span[0] + 1})`]
        : [`${message} ${at}`];
  }
}

const valueCodes: ReadonlySet<string> = new Set([
  'bad_area',
  'bad_context',
  'bad_country',
  'bad_handle',
  'bad_id',
  'bad_number',
  'bad_proximity',
  'bad_tag',
  'missing_value',
  'one_value',
  'second_colon',
  'space_after_colon',
  'unknown_language',
]);

function operatorName(clause: string): string {
  return /^[-(\s]*(\w+)/.exec(clause)?.[1] ?? clause;
}
