import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The JSON Schemas of named zod schemas; where one contains another, it refers to it by name.
 * `input` is what a caller may send. `output` is what a caller receives: there, fields may be
 * added later, so the schema stays open although our own is strict.
 */
export function jsonSchemas(
  named: Readonly<Record<string, z.ZodType>>,
  direction: 'input' | 'output',
): Record<string, JsonSchema> {
  const registry = z.registry<{ id?: string | undefined }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: direction,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      if (direction === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      // The format says the same in two words.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $id: _id, $schema: _schema, ...schema }]) => [id, schema]),
  );
}
