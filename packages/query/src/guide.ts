import type { SyntaxGuide } from './language.ts';

/** The guide as Markdown, generated from the language's tables. */
export function guideMarkdown(title: string, guide: Omit<SyntaxGuide, 'markdown'>): string {
  return [
    `# ${title}`,
    guide.summary,
    `Limits: ${Object.entries(guide.limits)
      .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
      .join(', ')}.`,
    '## How a rule is read',
    guide.precedence,
    '## Operators',
    '`C` = cannot stand alone, add a clause that can. `+` = cannot be negated.',
    guide.operators.map(operatorLine).join('\n'),
    '## Typical mistakes',
    guide.pitfalls.map(({ wrong, right, why }) => `- \`${wrong}\` → \`${right}\`: ${why}`).join('\n'),
    '## Examples',
    guide.examples
      .map(({ intent, value, explanation }) => `- ${intent}: \`${value}\`. ${explanation}`)
      .join('\n'),
    '',
  ].join('\n\n');
}

function operatorLine(operator: SyntaxGuide['operators'][number]): string {
  const marks = [
    operator.standalone ? '' : 'C',
    operator.negatable ? '' : '+',
    operator.tier === 'standard' ? '' : `${operator.tier} tier only`,
  ].filter((mark) => mark !== '');
  const examples = operator.examples.map((example) => `\`${example}\``).join(', ');
  return `- \`${operator.form}\`${marks.length > 0 ? ` (${marks.join(', ')})` : ''} ${operator.meaning}. ${examples}`;
}
