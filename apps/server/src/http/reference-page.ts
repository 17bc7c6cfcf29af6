import type { JsonSchema, OpenApiDocument, OpenApiOperation } from '@earshot/contract';
import { type FieldRow, fieldRows, objectName } from './reference-page-fields.ts';

/** HTML that is already escaped, so that it cannot be mixed up with text that is not. */
interface Html {
  readonly html: string;
}

interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: OpenApiOperation;
}

/** The interface reference as one page without scripts or outside assets. */
export function renderReferencePage(document: OpenApiDocument): string {
  const endpoints = endpointsOf(document);
  const { title, version, description } = document.info;
  const shown = new Set<string>();
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<style>${{ html: style }}</style>
</head>
<body>
<nav aria-label="Contents">
<p class="brand">${title}</p>
<ul>
<li><a href="#start">Getting started</a></li>
${endpoints.map(({ operation }) => markup`<li><a href="#${operation.operationId}">${operation.summary}</a></li>\n`)}
<li><a href="#errors">Errors</a></li>
</ul>
</nav>
<main>
<header id="start">
<h1>${title} API reference</h1>
<p>${inline(description)}</p>
<p>Version ${version}. The same description for programs: <a href="/openapi.json">/openapi.json</a>.</p>
${gettingStarted(document)}
</header>
${endpoints.map((endpoint) => operationSection(endpoint, document, shown))}
${errorsSection(document, shown)}
</main>
</body>
</html>
`;
  return page.html;
}

function endpointsOf(document: OpenApiDocument): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, { get, post }]) => [
    ...(get === undefined ? [] : [{ method: 'GET' as const, path, operation: get }]),
    ...(post === undefined ? [] : [{ method: 'POST' as const, path, operation: post }]),
  ]);
}

function gettingStarted(document: OpenApiDocument): Html {
  return markup`<p>Send your API key with every request as <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Bodies are JSON, ids are opaque. A request with an unknown field is refused. The examples use two variables:</p>
<pre>export EARSHOT_URL=${shellWord(baseUrl(document) ?? 'https://earshot.example')}
export EARSHOT_API_KEY=esk_…</pre>`;
}

function baseUrl(document: OpenApiDocument): string | undefined {
  return document.servers.map(({ url }) => url).find((url) => url !== '/');
}

function operationSection(endpoint: Endpoint, document: OpenApiDocument, shown: Set<string>): Html {
  const { method, path, operation } = endpoint;
  const success = operation.responses['200'];
  const content = success !== undefined && 'content' in success ? success.content : undefined;
  const answer = content?.['application/json'] ?? content?.['text/event-stream'];
  const answerRows = answer === undefined ? [] : rowsOf(answer.schema, document);
  return markup`<section id="${operation.operationId}">
<h2>${operation.summary}</h2>
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code> <span class="scope">${access(operation)}</span></p>
<p>${inline(operation.description ?? '')}</p>
${fieldsTable('Request', requestRows(operation, document), 'required')}
<h3>Example</h3>
<pre>${curl(endpoint)}</pre>
${answer?.example === undefined ? [] : markup`<pre class="answer">${pretty(answer.example)}</pre>`}
${fieldsTable('Answer', answerRows, 'optional')}
${objectTables(answerRows, document, shown)}
${operationErrors(operation, document)}
</section>
`;
}

/** The named objects that the rows hold, and those inside them, each where the page first comes to it. */
function objectTables(rows: readonly FieldRow[], document: OpenApiDocument, shown: Set<string>): Html[] {
  return rows.flatMap(({ object }) => {
    if (object === undefined || shown.has(object)) return [];
    shown.add(object);
    const own = rowsOf(document.components.schemas[object] ?? {}, document);
    const table = markup`<div id="object-${object}">${fieldsTable(object, own, 'optional')}</div>`;
    return [table, ...objectTables(own, document, shown)];
  });
}

function access(operation: OpenApiOperation): string {
  const scope = operation['x-required-scope'];
  if (scope === undefined) return 'no key needed';
  return scope === null ? 'any valid key' : `scope ${scope}`;
}

function requestRows(operation: OpenApiOperation, document: OpenApiDocument): FieldRow[] {
  const body = operation.requestBody?.content['application/json'].schema;
  if (body !== undefined) return rowsOf(body, document);
  const parameters = operation.parameters ?? [];
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description = '' }) => [name, { ...schema, description }]),
  );
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return rowsOf({ type: 'object', properties, required }, document);
}

function rowsOf(schema: JsonSchema, document: OpenApiDocument): FieldRow[] {
  const name = objectName(schema);
  return fieldRows(name === undefined ? schema : (document.components.schemas[name] ?? {}));
}

/** In a request it matters which fields must be sent, in an answer which may be absent. */
function fieldsTable(title: string, rows: readonly FieldRow[], marked: 'required' | 'optional'): Html {
  if (rows.length === 0) return markup``;
  const presence = ({ required }: FieldRow) => (required === (marked === 'required') ? marked : '');
  return markup`<h3>${title}</h3>
<div class="scroll"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows.map(
  (row) => markup`<tr><td><code>${row.path}</code> <span class="presence">${presence(row)}</span></td>
<td>${row.object === undefined ? row.type : markup`<a href="#object-${row.object}">${row.type}</a>`}</td>
<td>${inline(row.description)}</td></tr>
`,
)}</tbody></table></div>`;
}

function curl({ method, path, operation }: Endpoint): string {
  const needsKey = operation.security === undefined;
  const parameters = (operation.parameters ?? []).filter(({ example }) => example !== undefined);
  const body = operation.requestBody?.content['application/json'].example;
  return [
    `curl -sS ${isStream(operation) ? '-N ' : ''}${parameters.length > 0 && method === 'GET' ? '-G ' : ''}"$EARSHOT_URL${path}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $EARSHOT_API_KEY"'] : []),
    ...parameters.map(({ name, example }) => `--data-urlencode ${shellWord(`${name}=${String(example)}`)}`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${shellWord(pretty(body))}`]),
  ].join(' \\\n  ');
}

function isStream({ responses }: OpenApiOperation): boolean {
  const success = responses['200'];
  return success !== undefined && 'content' in success && 'text/event-stream' in success.content;
}

function shellWord(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function operationErrors(operation: OpenApiOperation, document: OpenApiDocument): Html {
  if (operation['x-errors'].length === 0) return markup``;
  return markup`<h3>Errors</h3>
<p>${operation['x-errors'].map((code) => markup`<a class="error" href="#error-${code}">${document['x-error-codes'][code].status} ${code}</a> `)}</p>`;
}

function errorsSection(document: OpenApiDocument, shown: Set<string>): Html {
  const content = document.components.responses['Error']?.content['application/json'];
  const rows = content === undefined ? [] : rowsOf(content.schema, document);
  return markup`<section id="errors">
<h2>Errors</h2>
<p>Every answer that is not a success has this form. Programs decide on <code>code</code>; <code>message</code> is for people;
<code>details.request_id</code> is also in the <code>x-request-id</code> header.</p>
<pre class="answer">${pretty(content?.example)}</pre>
${fieldsTable('Error', rows, 'optional')}
${objectTables(rows, document, shown)}
<h3>Codes</h3>
<div class="scroll"><table>
<thead><tr><th scope="col">Code</th><th scope="col">HTTP</th><th scope="col">When</th><th scope="col">What to do</th><th scope="col">Retry</th></tr></thead>
<tbody>
${Object.entries(document['x-error-codes']).map(
  ([code, { status, when, whatToDo, retryable }]) =>
    markup`<tr id="error-${code}"><td><code>${code}</code></td><td>${String(status)}</td><td>${inline(when)}</td><td>${inline(whatToDo)}</td><td>${retryable ? 'yes' : 'no'}</td></tr>
`,
)}</tbody></table></div>
</section>`;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Text in which backticks mark code. */
function inline(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return {
    html: parts
      .map((part, index) => (index % 2 === 1 ? `<code>${escape(part)}</code>` : escape(part)))
      .join(''),
  };
}

/** A template whose values are escaped unless they are HTML already. */
function markup(
  literals: TemplateStringsArray,
  ...values: (string | number | Html | readonly Html[])[]
): Html {
  const pieces = literals.map((literal, index) => literal + toHtml(values[index] ?? ''));
  return { html: pieces.join('') };
}

function toHtml(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  return 'html' in value ? value.html : value.map(({ html }) => html).join('');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const style = `
:root {
  --text: #1c2430; --muted: #5b6675; --line: #dfe3e8; --page: #ffffff; --soft: #f5f7f9; --link: #0b5cad; --get: #0b6b45; --post: #8a4300;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dfe5ec; --muted: #98a4b3; --line: #2c3540; --page: #12171d; --soft: #1a2129; --link: #7db8f5; --get: #6fd3a5; --post: #f0b072;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 76rem; display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 3rem; padding: 0 1.5rem;
  font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--page); }
nav { position: sticky; top: 0; align-self: start; padding-top: 2rem; font-size: 0.9rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: 0.2rem 0; }
.brand { font-weight: 700; margin: 0 0 0.75rem; }
main { padding: 1rem 0 4rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
h1 { font-size: 1.9rem; line-height: 1.2; }
h2 { font-size: 1.35rem; margin: 0 0 0.5rem; }
h3 { font-size: 0.85rem; margin: 1.5rem 0 0.4rem; color: var(--muted); }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 2rem; }
.route { margin: 0.25rem 0 0.75rem; }
.method { font: 700 0.8rem/1 ui-monospace, monospace; border: 1px solid currentcolor; border-radius: 4px; padding: 0.15rem 0.4rem; }
.get { color: var(--get); }
.post { color: var(--post); }
.scope, .presence { color: var(--muted); font-size: 0.8rem; }
.scope { margin-left: 0.5rem; }
code, pre { font-family: ui-monospace, "Liberation Mono", monospace; font-size: 0.875em; }
td:first-child { white-space: nowrap; }
p code, td:last-child code { background: var(--soft); border-radius: 3px; padding: 0.05em 0.3em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem 1rem; margin: 0.5rem 0; overflow-x: auto;
  line-height: 1.45; }
pre.answer { max-height: 24rem; overflow-y: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--muted); }
.error { display: inline-block; margin: 0 0.75rem 0.2rem 0; font: 0.85rem ui-monospace, "Liberation Mono", monospace; }
tr:target, div:target { background: var(--soft); }
@media (max-width: 50rem) {
  body { grid-template-columns: minmax(0, 1fr); gap: 0; padding: 0 1rem; }
  nav { position: static; }
}
`;
