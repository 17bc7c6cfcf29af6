import {
  errorCodes,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  openApiDocument,
  operations,
} from '../packages/contract/src/index.ts';

/**
 * Renders the generated modules of the Python SDK from the contract: the types of requests and answers, and one method for
 * each operation, for the synchronous and the asynchronous client.
 */
export function renderPythonSdk(): { types: string; calls: string } {
  const types = collectTypes(openApiDocument());
  const calls = renderCalls(types);
  return { types: renderTypes(types), calls };
}

const header = '# Generated from the contract by tools/python-sdk.ts. Regenerate it with: pnpm docs:write\n';
const lineLengthMax = 100;

/** Short names for nested objects. All others are named after their path. */
const names: Readonly<Record<string, string>> = {
  'Rule.budget': 'Budget',
  'Rule.effective_budget': 'EffectiveBudget',
  'Rule.examples.must_match[]': 'RuleExample',
  'Rule.examples.must_match[].payload': 'ExamplePayload',
  'Rule.examples.must_match[].payload.author': 'ExampleAuthor',
  'Rule.managed_by': 'ManagedBy',
  'Rule.platforms.x': 'RulePlatform',
  'Rule.platforms.x.listening': 'Listening',
  'Match.payload.author': 'Author',
  'Match.why': 'Why',
  'Match.why.evidence[]': 'Evidence',
  'Match.why.evidence[].rule_span': 'Span',
  'Match.why.undecided[]': 'Undecided',
  'Coverage.gaps[]': 'Gap',
  'SyntaxGuide.operators[]': 'SyntaxOperator',
  'SyntaxGuide.pitfalls[]': 'SyntaxPitfall',
  'SyntaxGuide.examples[]': 'SyntaxExample',
  'Diagnostic.fixes[]': 'Fix',
  'Diagnostic.fixes[].edits[]': 'Edit',
  'Error.details': 'ErrorDetails',
  'Error.details.reader': 'ErrorReader',
  'Error.details.estimate': 'Estimates',
  'Error.details.estimate.x': 'Estimate',
  'Error.details.estimate.x.matches_per_day': 'EstimatedMatches',
  'Error.details.estimate.x.busiest_hour': 'BusiestHour',
  'Error.details.estimate.x.usd_per_day': 'UsdRange',
  'CreateRuleRequest.overrides': 'Overrides',
  'CreateRuleRequest.options': 'Options',
  'CreateRuleRequest.options.firehose': 'FirehoseOptions',
  'CreateRuleRequest.budget': 'NewBudget',
  'CreateRuleRequest.trial': 'Trial',
  'CreateRuleRequest.examples': 'NewRuleExamples',
  'CreateDigestRequest.schedule': 'DigestSchedule',
  'CreateDigestRequest.recipients': 'DigestRecipients',
  CreateArchiveAnswer: 'Archive',
  CreateDigestAnswer: 'Digest',
  CreateRuleAnswer: 'CreatedRule',
  'CreateRuleAnswer.platforms.x': 'CreatedRulePlatform',
  CreateKeyAnswer: 'CreatedKey',
  CreateWebhookAnswer: 'CreatedWebhook',
  'ListMatchesAnswer.removed[]': 'Removal',
  'ReadMatchesAnswer.notices[]': 'Notice',
  'CountMatchesAnswer.series[]': 'CountSeries',
  'GetCoverageAnswer.intervals[]': 'CoverageInterval',
  'GetUsageAnswer.usage[]': 'Usage',
  'GetUsageAnswer.total': 'UsageTotal',
  'ListSourcesAnswer.sources[]': 'Source',
  'PreviewRuleAnswer.platforms': 'PlatformPreviews',
  'PreviewRuleAnswer.platforms.x': 'PlatformPreview',
  'PreviewRuleAnswer.platforms.x.sample': 'PreviewSample',
  'PreviewRuleAnswer.platforms.x.sample.matches[]': 'PreviewMatch',
  'PreviewRuleAnswer.platforms.x.against': 'PreviewDifference',
  'ValidateRuleAnswer.platforms': 'PlatformValidations',
  'PlatformSyntaxAnswer.platforms': 'SyntaxGuides',
  'ValidateRuleAnswer.platforms.x': 'PlatformValidation',
};

interface ObjectType {
  readonly name: string;
  readonly text: string | undefined;
  readonly fields: readonly { name: string; type: string; isRequired: boolean; text: string | undefined }[];
}

interface Types {
  /** In the order of their definition: an object after the objects that it contains. */
  readonly objects: readonly ObjectType[];
  /** The Python type of a schema. */
  readonly typeOf: (schema: JsonSchema, path: string) => string;
  readonly textOf: (schema: JsonSchema) => string | undefined;
  readonly document: OpenApiDocument;
}

/** Gives every object of the contract a name. Objects with the same fields share one, in requests and answers. */
function collectTypes(document: OpenApiDocument): Types {
  const { schemas } = document.components;
  const objects: ObjectType[] = [];
  const nameByShape = new Map<string, string>();
  const referred = ({ $ref }: JsonSchema) => $ref?.replace('#/components/schemas/', '');
  const resolve = (schema: JsonSchema): JsonSchema => schemas[referred(schema) ?? ''] ?? schema;

  const textOf = (schema: JsonSchema): string | undefined =>
    schema.description ??
    resolve(schema).description ??
    schema.anyOf?.flatMap((one) => textOf(asSchema(one)) ?? [])[0];

  const typeOf = (schema: JsonSchema, path: string): string => {
    const name = referred(schema);
    if (name !== undefined) return typeOf(resolve(schema), name);
    if (schema.anyOf) return unionOf(schema.anyOf.map((one) => typeOf(asSchema(one), path)));
    if (Array.isArray(schema.type))
      return unionOf(schema.type.map((type) => typeOf({ ...schema, type }, path)));
    if (schema.type === 'null') return 'None';
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if (schema.type === 'array') return `list[${typeOf(asSchema(schema.items), `${path}[]`)}]`;
    if (schema.type !== 'object') return scalars[String(schema.type)] ?? 'Any';
    if (schema.properties) return objectType(schema, path);
    return `dict[str, ${typeOf(asSchema(schema.additionalProperties), path)}]`;
  };

  const objectType = (schema: JsonSchema, path: string): string => {
    const shape = JSON.stringify(shapeOf(schema, resolve));
    const known = nameByShape.get(shape);
    if (known !== undefined) return known;
    const name = nameOf(path);
    nameByShape.set(shape, name);
    const fields = Object.entries(schema.properties ?? {}).map(([field, property]) => ({
      name: field,
      type: typeOf(asSchema(property), `${path}.${field}`),
      // The details of an error depend on its code.
      isRequired: name !== 'ErrorDetails' && (schema.required?.includes(field) ?? false),
      text: textOf(asSchema(property)),
    }));
    if (objects.some((one) => one.name === name)) throw new Error(`Two types are named ${name}: ${path}`);
    objects.push({ name, text: textOf(schema), fields });
    return name;
  };

  // Named types first, so that other types with the same fields get their names.
  const ids = Object.keys(schemas);
  const isNamed = (id: string) => !/(?:Request|Answer)$/.test(id);
  const answers = ids.filter((id) => id.endsWith('Answer') && !id.startsWith('Stream'));
  const own = ids.filter((id) => isNamed(id) && id !== 'Error');
  for (const id of own) typeOf(schemas[id] ?? {}, id);
  for (const id of ids.filter((one) => one.endsWith('Request')))
    for (const [field, property] of Object.entries(schemas[id]?.properties ?? {}))
      typeOf(asSchema(property), `${id}.${field}`);
  const details = schemas['Error']?.properties?.['details'];
  typeOf(asSchema(details), 'Error.details');
  for (const id of answers) typeOf(schemas[id] ?? {}, id);
  const unused = Object.values(names).filter((name) => !objects.some((one) => one.name === name));
  if (unused.length > 0) throw new Error(`No type of the contract is named ${unused.join(', ')}.`);
  return { objects, typeOf, textOf, document };
}

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

const asSchema = (value: unknown): JsonSchema =>
  typeof value === 'object' && value !== null ? { ...value } : {};

function unionOf(types: readonly string[]): string {
  return [...new Set(types)].toSorted((a, b) => Number(a === 'None') - Number(b === 'None')).join(' | ');
}

/** What distinguishes two objects: not their texts and limits. */
function shapeOf(schema: JsonSchema, resolve: (schema: JsonSchema) => JsonSchema): unknown {
  const {
    type,
    properties,
    required,
    items,
    anyOf,
    enum: values,
    const: value,
    additionalProperties,
  } = resolve(schema);
  return {
    type,
    values,
    value,
    required: required?.toSorted(),
    properties:
      properties && Object.entries(properties).map(([name, one]) => [name, shapeOf(asSchema(one), resolve)]),
    items: items && shapeOf(asSchema(items), resolve),
    anyOf: anyOf?.map((one) => shapeOf(asSchema(one), resolve)),
    additionalProperties:
      typeof additionalProperties === 'object' ? shapeOf(additionalProperties, resolve) : undefined,
  };
}

function nameOf(path: string): string {
  const [, id] = /^(\w+)$/.exec(path) ?? [];
  const known = names[path] ?? id;
  if (known !== undefined) return known;
  const parent = path.slice(0, path.lastIndexOf('.'));
  const field = path.slice(parent.length + 1).replace(/(?<=[^s])s\[\]$|\[\]$/, '');
  return nameOf(parent) + pascal(field);
}

const pascal = (text: string) => text.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
const snake = (text: string) => text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();

/** The words of Python's grammar get an underscore. */
const argument = (name: string) => (keywords.has(name) ? `${name}_` : name);
const keywords = new Set([
  'and',
  'as',
  'class',
  'def',
  'from',
  'global',
  'import',
  'in',
  'is',
  'not',
  'or',
  'with',
]);

function renderTypes({ objects }: Types): string {
  const codes = Object.keys(errorCodes).map((code) => JSON.stringify(code));
  return [
    header,
    '"""The requests and answers of the operations. Answers may gain fields, and fields new values."""\n',
    'from __future__ import annotations\n',
    'from typing import TYPE_CHECKING, Any, Literal, TypedDict\n',
    'if TYPE_CHECKING:\n    from typing_extensions import NotRequired\n',
    `ErrorCode = Literal[\n${codes.map((code) => `    ${code},\n`).join('')}]`,
    '"""The codes of errors."""\n',
    ...objects.map(renderObject),
  ].join('\n');
}

function renderObject({ name, text, fields }: ObjectType): string {
  const typed = fields.map((field) => ({
    ...field,
    type: field.isRequired ? field.type : `NotRequired[${field.type}]`,
  }));
  const about = text === undefined ? '' : docstring([text], 4);
  if (!fields.some((field) => keywords.has(field.name))) {
    const members = typed.map((field) => {
      const line = `    ${field.name}: ${breakLiteral(field.type, 4)}\n`;
      return field.text === undefined ? line : line + docstring([field.text], 4);
    });
    return `\nclass ${name}(TypedDict):\n${[about, ...members].filter(Boolean).join('\n') || '    pass\n'}`;
  }
  // A class cannot have a field with the name of a keyword.
  const members = typed.map((field) => {
    const comment =
      field.text === undefined
        ? ''
        : wrap(field.text, lineLengthMax - 10)
            .map((line) => `        # ${line}\n`)
            .join('');
    return `${comment}        "${field.name}": ${JSON.stringify(field.type.replaceAll('"', "'"))},\n`;
  });
  const head = `\n${name} = TypedDict(\n    "${name}",\n    {\n${members.join('')}    },\n)\n`;
  return text === undefined ? head : head + docstring([text], 0);
}

/** Long lists of values, one value on a line. */
function breakLiteral(type: string, indent: number): string {
  if (type.length + indent <= lineLengthMax - 20) return type;
  const pad = ' '.repeat(indent);
  return type.replace(/Literal\[(.*?)\]/, (_, values: string) => {
    const lines = values.split(', ').map((value) => `${pad}    ${value},\n`);
    return `Literal[\n${lines.join('')}${pad}]`;
  });
}

function docstring(paragraphs: readonly string[], indent: number): string {
  const pad = ' '.repeat(indent);
  const lines = paragraphs.flatMap((text, index) => [
    ...(index === 0 ? [] : ['']),
    ...text.split('\n').flatMap((line) => wrap(line, lineLengthMax - indent - 6)),
  ]);
  const safe = lines.map((line) =>
    line.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"'),
  );
  if (safe.length === 1) return `${pad}"""${safe[0]}"""\n`;
  const rest = safe.slice(1).map((line) => (line === '' ? '\n' : `${pad}${line}\n`));
  return `${pad}"""${safe[0]}\n${rest.join('')}${pad}"""\n`;
}

/** Continuation lines keep the indentation of the first one. */
function wrap(text: string, length: number): string[] {
  const indent = /^ */.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= length) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${lines.length === 0 ? indent : `${indent}${indent === '' ? '' : '    '}`}${word}`);
  }
  return lines;
}

interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly text: string | undefined;
}

function renderCalls(types: Types): string {
  const rows: readonly Operation[] = Object.values(operations);
  const called = rows.filter(({ stream, file }) => stream !== true && !file);
  const parametersOf = new Map(called.map((row) => [row.id, readParameters(row, types)]));
  const table = rows.map(({ id, method, path, changes }) => {
    const nullable = (parametersOf.get(id) ?? [])
      .filter((one) => one.isNullable)
      .map(({ name }) => `"${name}"`);
    const more = nullable.length > 0 ? `, nullable=frozenset({${nullable.join(', ')}})` : '';
    return `    "${id}": Operation("${method}", "${path}", changes=${changes ? 'True' : 'False'}${more}),\n`;
  });
  const retryable = Object.entries(errorCodes).map(
    ([code, { retryable: can }]) => `    "${code}": ${can ? 'True' : 'False'},\n`,
  );
  const methods = (isAsync: boolean) =>
    called.map((row) => renderMethod(row, parametersOf.get(row.id) ?? [], { types, isAsync })).join('\n');
  return [
    header,
    '"""One method for each operation."""\n',
    'from __future__ import annotations\n',
    'from collections.abc import Mapping, Sequence',
    'from typing import Any, Literal\n',
    'from . import types',
    'from .request import OMITTED, Omitted, Operation\n',
    `RETRYABLE: Mapping[str, bool] = {\n${retryable.join('')}}`,
    '"""Whether the same request may be sent again."""\n',
    `OPERATIONS: Mapping[str, Operation] = {\n${table.join('')}}\n`,
    '\nclass Calls:',
    '    """The operations of the synchronous client."""\n',
    `    def _call(\n        self,\n        operation: str,\n        request: Mapping[str, object],\n        timeout: float | None,\n        idempotency_key: str | None = None,\n    ) -> Any:\n        raise NotImplementedError\n`,
    methods(false),
    '\nclass AsyncCalls:',
    '    """The operations of the asynchronous client."""\n',
    `    async def _call(\n        self,\n        operation: str,\n        request: Mapping[str, object],\n        timeout: float | None,\n        idempotency_key: str | None = None,\n    ) -> Any:\n        raise NotImplementedError\n`,
    methods(true),
  ].join('\n');
}

function readParameters({ id, method, path }: Operation, { document, typeOf, textOf }: Types): Parameter[] {
  const body = document.components.schemas[`${id}Request`];
  const fields =
    method === 'POST'
      ? Object.entries(body?.properties ?? {}).map(([name, property]) => ({
          name,
          schema: asSchema(property),
          isRequired: body?.required?.includes(name) ?? false,
        }))
      : (document.paths[path]?.get?.parameters ?? []).map(({ name, required, description, schema }) => ({
          name,
          schema: { ...schema, ...(description !== undefined && { description }) },
          isRequired: required,
        }));
  const parameters = fields.map(({ name, schema, isRequired }) => {
    const type = qualified(typeOf(schema, `${id}Request.${name}`));
    return { name, type, isRequired, isNullable: type.endsWith(' | None'), text: textOf(schema) };
  });
  return parameters.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** Types of the other module; arguments may be any sequence. */
function qualified(type: string): string {
  return type
    .replaceAll(/(?<!["\w.])([A-Z]\w+)\b(?!")/g, (name) =>
      ['Any', 'Literal', 'None', 'True', 'False'].includes(name) ? name : `types.${name}`,
    )
    .replace(/^list\[/, 'Sequence[');
}

function renderMethod(
  { id, summary, description, changes }: Operation,
  parameters: readonly Parameter[],
  { types, isAsync }: { types: Types; isAsync: boolean },
): string {
  const answer = types.document.components.schemas[`${id}Answer`] ?? {};
  const answerType = qualified(types.typeOf(answer, `${id}Answer`));
  const words = parameters.map(({ name, type, isRequired, isNullable }) => {
    if (isRequired) return `        ${argument(name)}: ${type},\n`;
    if (isNullable) return `        ${argument(name)}: ${type} | Omitted = OMITTED,\n`;
    return `        ${argument(name)}: ${type} | None = None,\n`;
  });
  const options = [
    ...(changes ? ['        idempotency_key: str | None = None,\n'] : []),
    '        timeout: float | None = None,\n',
  ];
  const texts = [
    ...parameters.map(({ name, text }) => `    ${argument(name)}: ${text ?? ''}`),
    ...(changes
      ? ['    idempotency_key: Your own key, so that several runs of your program make the change only once.']
      : []),
    '    timeout: Seconds for all attempts together.',
  ];
  const request = parameters.map(({ name }) => `"${name}": ${argument(name)}`);
  const body =
    request.length > 0 ? `{\n${request.map((one) => `            ${one},\n`).join('')}        }` : '{}';
  const call = `self._call("${id}", request, timeout${changes ? ', idempotency_key' : ''})`;
  return [
    `    ${isAsync ? 'async ' : ''}def ${snake(id)}(\n        self,\n        *,\n${[...words, ...options].join('')}    ) -> ${answerType}:\n`,
    docstring([`${summary}.`, description, ['Args:', ...texts].join('\n')], 8),
    `        request: dict[str, object] = ${body}\n`,
    `        answer: ${answerType} = ${isAsync ? 'await ' : ''}${call}\n        return answer\n`,
  ].join('');
}
