import type { JsonSchema } from '../src/json-schemas.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;
type Subschema = JsonSchema | boolean;

/**
 * Where a value breaks a schema, or undefined. Knows the keywords that our document uses, and no more: it is the
 * second opinion on the JSON Schemas that zod generates, so it shares nothing with zod.
 */
export function mismatch(schema: Subschema, value: unknown, schemas: Schemas, at = '$'): string | undefined {
  if (typeof schema === 'boolean') return schema ? undefined : `${at} is not allowed`;
  if (schema.$ref !== undefined) {
    const target = schemas[schema.$ref.replace('#/components/schemas/', '')];
    return target === undefined ? `${at} refers to nothing` : mismatch(target, value, schemas, at);
  }
  if (schema.anyOf?.every((option) => mismatch(option, value, schemas, at) !== undefined)) {
    return `${at} fits no alternative`;
  }
  if (schema.enum !== undefined && !schema.enum.some((option) => option === value))
    return `${at} is not in the enum`;
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type)))
    return `${at} is not ${types.join(' or ')}`;
  if (typeof value === 'string') return stringMismatch(schema, value, at);
  if (typeof value === 'number') return numberMismatch(schema, value, at);
  if (Array.isArray(value))
    return firstOf(value, (item, index) => mismatch(itemsOf(schema), item, schemas, `${at}[${index}]`));
  return isObject(value) ? objectMismatch(schema, value, schemas, at) : undefined;
}

function objectMismatch(
  schema: JsonSchema,
  value: Record<string, unknown>,
  schemas: Schemas,
  at: string,
): string | undefined {
  const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${at}.${missing} is missing`;
  return firstOf(Object.entries(value), ([name, entry]) => {
    const subschema = schema.properties?.[name] ?? schema.additionalProperties ?? true;
    return mismatch(subschema, entry, schemas, `${at}.${name}`);
  });
}

function stringMismatch(schema: JsonSchema, value: string, at: string): string | undefined {
  const length = Array.from(value).length;
  if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? length))
    return `${at} has a wrong length`;
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
    return `${at} breaks its pattern`;
  if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) return `${at} is no time`;
  return undefined;
}

function numberMismatch(schema: JsonSchema, value: number, at: string): string | undefined {
  const isWithin = value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value);
  return isWithin ? undefined : `${at} is out of bounds`;
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === 'object' ? isObject(value) : typeof value === type;
}

function itemsOf(schema: JsonSchema): Subschema {
  return schema.items === undefined || Array.isArray(schema.items) ? true : schema.items;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf<Item>(
  items: readonly Item[],
  check: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
