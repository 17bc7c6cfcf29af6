import type { JsonSchema } from '@earshot/contract';

export interface FieldRow {
  readonly path: string;
  readonly type: string;
  /** The named object that the field holds; its fields have a table of their own. */
  readonly object?: string;
  readonly required: boolean;
  readonly description: string;
}

type Subschema = JsonSchema | boolean;

const enumSpeltOutMax = 6;

/** The fields of an object schema as flat rows, in order; `gaps[].from` is a field of each entry of `gaps`. */
export function fieldRows(schema: JsonSchema, prefix = ''): FieldRow[] {
  const { properties = {}, required = [] } = schema;
  return mergeAlike(Object.entries(properties)).flatMap(([name, subschema]) => {
    const field = typeof subschema === 'boolean' ? {} : subschema;
    const path = `${prefix}${name}`;
    const object = objectName(field);
    const row = {
      path,
      type:
        field.default === undefined
          ? typeOf(field)
          : `${typeOf(field)}, default ${JSON.stringify(field.default)}`,
      required: required.includes(name),
      description: field.description ?? '',
      ...(object === undefined ? {} : { object }),
    };
    const [nested, suffix] = nestedObject(field);
    return nested === undefined ? [row] : [row, ...fieldRows(nested, `${path}${suffix}.`)];
  });
}

/** The name of the schema that a reference points to. */
export function objectName(schema: Subschema): string | undefined {
  return references(schema)[0]?.replace('#/components/schemas/', '');
}

function references(schema: Subschema): string[] {
  if (typeof schema === 'boolean') return [];
  const own = schema.$ref === undefined ? [] : [schema.$ref];
  return [...own, ...[schema.items ?? [], schema.anyOf ?? []].flat().flatMap(references)];
}

/** Properties with the same structured schema, one per platform, become one row and are named in its description. */
function mergeAlike(entries: readonly [string, Subschema][]): readonly [string, Subschema][] {
  const [first, ...others] = entries;
  if (first === undefined || others.length === 0 || typeof first[1] === 'boolean') return entries;
  const isStructured = first[1].$ref !== undefined || first[1].properties !== undefined;
  const text = JSON.stringify(first[1]);
  if (!isStructured || !others.every(([, schema]) => JSON.stringify(schema) === text)) return entries;
  const names = entries.map(([name]) => `\`${name}\``).join(' and ');
  return [['*', { ...first[1], description: `For each of ${names} that applies.` }]];
}

/** The unnamed object whose fields continue a field's path: itself, its entries, or its alternative to null. */
function nestedObject(field: Subschema): [JsonSchema | undefined, string] {
  if (typeof field === 'boolean' || field.$ref !== undefined) return [undefined, ''];
  if (field.properties !== undefined) return [field, ''];
  if (field.items !== undefined && !Array.isArray(field.items)) {
    const [nested, suffix] = nestedObject(field.items);
    return [nested, `[]${suffix}`];
  }
  return field.anyOf?.map(nestedObject).find(([nested]) => nested !== undefined) ?? [undefined, ''];
}

function typeOf(field: Subschema): string {
  if (typeof field === 'boolean') return 'any';
  if (field.$ref !== undefined) return objectName(field) ?? 'object';
  if (field.enum !== undefined) return enumType(field.enum);
  if (field.anyOf !== undefined) return field.anyOf.map(typeOf).join(' or ');
  if (field.items !== undefined && !Array.isArray(field.items)) {
    const entry = typeOf(field.items);
    return `array of ${entry.includes(' | ') ? `(${entry})` : entry}${bounds(field.minItems, field.maxItems, 'entries')}`;
  }
  const type = [field.type ?? 'any'].flat().join(' or ');
  if (field.format === 'date-time') return 'RFC 3339 time';
  return (
    type + bounds(field.minLength, field.maxLength, 'characters') + bounds(field.minimum, field.maximum, '')
  );
}

function enumType(values: readonly unknown[]): string {
  if (values.length > enumSpeltOutMax) return `one of ${values.length} strings`;
  return values.map((value) => JSON.stringify(value)).join(' | ');
}

function bounds(min: number | undefined, max: number | undefined, unit: string): string {
  return max === undefined ? '' : `, ${min ?? 0}–${max.toLocaleString('en')} ${unit}`.trimEnd();
}
