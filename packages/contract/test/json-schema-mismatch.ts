import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../src/json-schemas.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

const known = new WeakMap<Schemas, { ajv: Ajv2020; compiled: Map<string, ValidateFunction> }>();

/** Describes why a value does not fit a schema, or returns undefined. It checks the JSON Schemas that zod generates. */
export function mismatch(schema: JsonSchema | boolean, value: unknown, schemas: Schemas): string | undefined {
  const { ajv, compiled } = known.get(schemas) ?? remember(schemas);
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: '$' });
}

/** Compiles referenced schemas once. */
function remember(schemas: Schemas) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
  ajv.addSchema({ components: { schemas } }, 'document');
  const remembered = { ajv, compiled: new Map<string, ValidateFunction>() };
  known.set(schemas, remembered);
  return remembered;
}
