import { type JsonSchema, type OpenApiDocument, openApiDocument } from '@earshot/contract';
import ts from 'typescript';

/**
 * Adds doc comments from the contract's OpenAPI document to the expanded types. It walks the types of the compiler and the
 * schemas of the document in parallel.
 */
export function describeType(name: string, node: ts.TypeNode): void {
  const document = openApiDocument();
  if (name === 'Requests' || name === 'Answers') {
    const schemaOf = name === 'Requests' ? requestSchema : answerSchema;
    for (const member of membersOf(node)) {
      const id = nameOf(member);
      comment(member, operationText(document, id));
      if (member.type) describe(member.type, [schemaOf(document, id)], document);
    }
    return;
  }
  const schema = namedSchema(document, name);
  if (schema) describe(node, [schema], document);
}

/** The methods of the client with their doc comments. */
export function describedCalls(): string {
  const document = openApiDocument();
  const operations = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId)
    .filter(
      (id) =>
        id !== 'StreamMatches' &&
        id !== 'StreamNotices' &&
        Object.hasOwn(document.components.schemas, `${id}Answer`),
    );
  const methods = operations.map((id) => {
    const { required = [] } = requestSchema(document, id);
    const name = id.charAt(0).toLowerCase() + id.slice(1);
    const text = operationText(document, id).replaceAll('*/', '*\\/');
    return `    /** ${text} */
    readonly ${name}: (request${required.length === 0 ? '?' : ''}: Requests['${id}'], options?: CallOptions) => Promise<Answers['${id}']>;`;
  });
  return `export interface Calls {\n${methods.join('\n')}\n}`;
}

function operationOf(document: OpenApiDocument, id: string) {
  const operation = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === id);
  if (!operation) throw new Error(`The contract has no operation ${id}`);
  return operation;
}

function operationText(document: OpenApiDocument, id: string): string {
  const { summary, description } = operationOf(document, id);
  return [`${summary}.`, description].filter(Boolean).join(' ');
}

/** The schema of a request: the body, or the query parameters of a GET. */
function requestSchema(document: OpenApiDocument, id: string): JsonSchema {
  const body = document.components.schemas[`${id}Request`];
  if (body) return body;
  const parameters = operationOf(document, id).parameters ?? [];
  return {
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        { ...schema, ...(description && { description }) },
      ]),
    ),
  };
}

function answerSchema(document: OpenApiDocument, id: string): JsonSchema {
  const schema = document.components.schemas[`${id}Answer`];
  if (!schema) throw new Error(`The contract has no answer of ${id}`);
  return schema;
}

/** The schema of an exported type. */
function namedSchema(document: OpenApiDocument, name: string): JsonSchema | undefined {
  const within = (schema: JsonSchema, key: string): JsonSchema | undefined =>
    variantsOf(schema, document).flatMap(({ properties }) => propertyOf(properties, key))[0];
  switch (name) {
    case 'Notice':
      return itemOf(within(answerSchema(document, 'ListNotices'), 'notices'), document);
    case 'Removal':
      return itemOf(within(answerSchema(document, 'ListMatches'), 'removed'), document);
    case 'ErrorDetails':
      return within(document.components.schemas['Error'] ?? {}, 'details');
    default:
      return document.components.schemas[name];
  }
}

function itemOf(schema: JsonSchema | undefined, document: OpenApiDocument): JsonSchema | undefined {
  return schema && variantsOf(schema, document).flatMap(({ items }) => asSchema(items))[0];
}

function describe(node: ts.TypeNode, schemas: readonly JsonSchema[], document: OpenApiDocument): void {
  const variants = schemas.flatMap((schema) => variantsOf(schema, document));
  if (ts.isParenthesizedTypeNode(node) || ts.isTypeOperatorNode(node)) describe(node.type, schemas, document);
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node))
    for (const part of node.types) describe(part, schemas, document);
  if (ts.isArrayTypeNode(node)) {
    const items = variants.flatMap((schema) => asSchema(schema.items));
    describe(node.elementType, items, document);
  }
  if (ts.isTypeLiteralNode(node)) describeMembers(node, variants, document);
}

function describeMembers(
  node: ts.TypeLiteralNode,
  variants: readonly JsonSchema[],
  document: OpenApiDocument,
): void {
  const members = membersOf(node);
  const names = members.map(nameOf);
  // Selects the variant with the same fields.
  const fitting = variants.filter(({ properties = {} }) =>
    names.every((name) => Object.hasOwn(properties, name)),
  );
  const same = fitting.filter(({ properties = {} }) => Object.keys(properties).length === names.length);
  const meant = [same, fitting, variants].find((some) => some.length > 0) ?? [];
  for (const member of members) {
    const schemas = meant.flatMap(({ properties }) => propertyOf(properties, nameOf(member)));
    const text = schemas.map((schema) => textOf(schema, document)).find((found) => found !== undefined);
    if (text !== undefined) comment(member, text);
    if (member.type) describe(member.type, schemas, document);
  }
}

const membersOf = (node: ts.TypeNode): ts.PropertySignature[] =>
  ts.isTypeLiteralNode(node) ? node.members.filter((member) => ts.isPropertySignature(member)) : [];

const nameOf = ({ name }: ts.PropertySignature): string =>
  ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : '';

const asSchema = (value: JsonSchema['items']): JsonSchema[] =>
  typeof value === 'object' && !Array.isArray(value) ? [value] : [];

const propertyOf = (properties: JsonSchema['properties'], name: string): JsonSchema[] =>
  asSchema(properties?.[name]);

/** The schema and all schemas that it combines or references. */
function variantsOf(schema: JsonSchema, document: OpenApiDocument): JsonSchema[] {
  const referred = document.components.schemas[schema.$ref?.replace('#/components/schemas/', '') ?? ''];
  const parts = [schema.anyOf, schema.oneOf, schema.allOf, referred].flat().flatMap(asSchema);
  return [schema, ...parts.flatMap((part) => variantsOf(part, document))];
}

function textOf(schema: JsonSchema, document: OpenApiDocument): string | undefined {
  return variantsOf(schema, document).find(({ description }) => description !== undefined)?.description;
}

function comment(node: ts.Node, text: string): void {
  const safe = text.replaceAll('*/', '*\u200b/');
  ts.addSyntheticLeadingComment(node, ts.SyntaxKind.MultiLineCommentTrivia, `* ${safe} `, true);
}
