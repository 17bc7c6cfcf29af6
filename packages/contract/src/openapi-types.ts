import type { ErrorCode, ErrorDescription } from './errors.ts';
import type { JsonSchema } from './json-schemas.ts';

/** The part of OpenAPI 3.1 that our document uses. Fields that begin with `x-` are extensions of ours. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<
    Record<string, { readonly get?: OpenApiOperation; readonly post?: OpenApiOperation }>
  >;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, OpenApiSecurityScheme>>;
    readonly headers: Readonly<Record<string, OpenApiHeader>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
  readonly 'x-error-codes': Readonly<Record<ErrorCode, ErrorDescription>>;
}

interface OpenApiSecurityScheme {
  readonly type: 'http';
  readonly scheme: 'bearer';
  readonly description: string;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** The scope that a key must have. Absent: any valid key. Empty: no key. */
  readonly security?: OpenApiDocument['security'];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: OpenApiJson };
  readonly responses: Readonly<Record<string, OpenApiResponse | OpenApiReference>>;
  readonly 'x-errors': readonly ErrorCode[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

interface OpenApiHeader {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, OpenApiReference | OpenApiHeader>>;
  /** By content type. */
  readonly content: Readonly<Record<string, OpenApiBody>>;
}

export type OpenApiJson = { readonly 'application/json': OpenApiBody };

interface OpenApiBody {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

interface OpenApiReference {
  readonly $ref: string;
}
