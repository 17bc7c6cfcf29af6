import { z } from 'zod';

/** The schema that clients get. It is short because an agent reads all schemas before its first call. */
export function inputJsonSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' });
  return json;
}

/** Allows additional properties, so that fields of later versions do not break clients. */
export function outputJsonSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      // Only a record has a schema here. `{}` allows what absence allows, and the MCP inspector warns of it.
      if (Object.keys(Object(jsonSchema.additionalProperties)).length === 0)
        delete jsonSchema.additionalProperties;
      // No client needs them, and agents would read a third more.
      delete jsonSchema.required;
      delete jsonSchema.propertyNames;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return json;
}
