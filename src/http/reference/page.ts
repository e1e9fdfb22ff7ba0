/**
 * The API reference at `/docs` (docs/spec/conventions.md#health): the OpenAPI document as one HTML page, rendered on the
 * server, without scripts or external resources. It is generated from the document, so both always agree.
 */
import { FAULTS } from '../../lib/fault-codes.ts';
import { escapeHtml, members, prose, type Schema, typeOf } from './schema.ts';
import { STYLE } from './style.ts';

interface Named {
  $ref?: string;
}

interface Parameter extends Named {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Content {
  content?: Record<string, { schema: Schema; example?: unknown }>;
}

interface Answer extends Named, Content {
  description?: string;
}

interface Described {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Answer>;
  'x-scope'?: string;
  'x-right'?: string;
}

export interface OpenApi {
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Described>>;
  webhooks?: Record<string, { post: Described }>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, Answer>;
  };
}

interface Shown {
  method: string;
  path: string;
  operation: Described;
}

const last = (ref: string): string => ref.split('/').at(-1) ?? '';

function operationsOf(document: OpenApi): Shown[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function parametersOf(document: OpenApi, { operation }: Shown): string {
  const all = (operation.parameters ?? []).map((one) =>
    one.$ref === undefined ? one : document.components.parameters[last(one.$ref)],
  );
  const rows = all.flatMap((one) => {
    if (one === undefined) return [];
    const need = one.required === true ? ' <span class="need">required</span>' : '';
    const said = one.description ?? one.schema.description;
    const text = said === undefined ? '' : `<p>${prose(said)}</p>`;
    return [
      `<li><code class="name">${escapeHtml(one.name)}</code> <span class="place">${one.in}</span> <span class="type">${typeOf(one.schema)}</span>${need}${text}</li>`,
    ];
  });
  return rows.length === 0 ? '' : `<h4>Parameters</h4><ul class="members">${rows.join('')}</ul>`;
}

function contentOf({ content }: Content): string {
  return Object.entries(content ?? {})
    .map(([mediaType, { schema, example }]) => {
      const named = mediaType === 'application/json' ? '' : `<p><code>${escapeHtml(mediaType)}</code></p>`;
      return named + members(schema.properties?.data === undefined ? schema : onlyData(schema)) + exampleOf(example);
    })
    .join('');
}

function exampleOf(example: unknown): string {
  if (example === undefined) return '';
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  return `<details><summary>Example</summary><pre><code>${escapeHtml(text)}</code></pre></details>`;
}

/** `meta` is the same in all answers, so the page shows only `data`. */
function onlyData(schema: Schema): Schema {
  return { ...schema, properties: { data: schema.properties?.data ?? {} } };
}

/** `Error-400-INVALID_JSON-INVALID_REQUEST` → links to the meanings of the codes. */
function codesOf(document: OpenApi, answer: Answer): string {
  if (answer.$ref === undefined) return '';
  const [, , ...codes] = last(answer.$ref).split('-');
  const known = document.components.responses[last(answer.$ref)]?.description;
  const links = codes.map((code) => `<a href="#error-${code}"><code>${escapeHtml(code)}</code></a>`).join(' ');
  return links === '' && known !== undefined ? prose(known) : links;
}

function answersOf(document: OpenApi, { operation }: Shown): string {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const bad = Object.entries(operation.responses).filter(([status]) => !status.startsWith('2'));
  const shown = good.map(
    ([status, answer]) => `<h4>Answer <span class="status">${status}</span></h4>${contentOf(answer)}`,
  );
  const rows = bad.map(
    ([status, answer]) => `<tr><td class="status">${status}</td><td>${codesOf(document, answer)}</td></tr>`,
  );
  return `${shown.join('')}<details><summary>Errors</summary><table>${rows.join('')}</table></details>`;
}

function operationOf(document: OpenApi, shown: Shown): string {
  const { operation, method, path } = shown;
  const base = document.servers[0]?.url ?? '';
  const facts = [
    operation['x-scope'] === undefined ? 'No key needed.' : `Scope <code>${escapeHtml(operation['x-scope'])}</code>`,
    ...(operation['x-right'] === undefined ? [] : [`right <code>${escapeHtml(operation['x-right'])}</code>`]),
  ];
  const body = operation.requestBody === undefined ? '' : `<h4>Body</h4>${contentOf(operation.requestBody)}`;
  return `<article id="${escapeHtml(operation.operationId)}">
<h3>${escapeHtml(operation.summary)}</h3>
<p class="call"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(base + path)}</code></p>
<p class="facts">${facts.join(', ')}</p>
${operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`}
${parametersOf(document, shown)}${body}${answersOf(document, shown)}
</article>`;
}

function eventsOf(document: OpenApi): string {
  const kinds = Object.entries(document.webhooks ?? {});
  if (kinds.length === 0) return '';
  const rows = kinds.map(([name, { post }]) => {
    const body = post.requestBody === undefined ? '' : contentOf(post.requestBody);
    return `<article id="event-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3><p>${prose(post.summary ?? '')}</p>${body}</article>`;
  });
  return `<section id="events"><h2>Webhooks</h2>${rows.join('')}</section>`;
}

function errorsSection(): string {
  const rows = Object.entries(FAULTS).map(
    ([code, { status, meaning }]) =>
      `<tr id="error-${code}"><td class="status">${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${prose(meaning)}</td></tr>`,
  );
  return `<section id="errors"><h2>Errors</h2><p>Programs act on <code>error.code</code>; <code>error.message</code> is for people, and <code>error.details</code> names the places.</p><table>${rows.join('')}</table></section>`;
}

function sectionOf(document: OpenApi, tag: { name: string; description?: string }, all: readonly Shown[]): string {
  const own = all.filter(({ operation }) => operation.tags.includes(tag.name));
  const said = tag.description === undefined ? '' : `<p>${prose(tag.description)}</p>`;
  return `<section id="tag-${escapeHtml(tag.name)}"><h2>${escapeHtml(tag.name)}</h2>${said}${own.map((one) => operationOf(document, one)).join('')}</section>`;
}

function navigation(document: OpenApi, all: readonly Shown[]): string {
  const groups = document.tags.map((tag) => {
    const items = all
      .filter(({ operation }) => operation.tags.includes(tag.name))
      .map(
        ({ operation, method }) =>
          `<li><a href="#${escapeHtml(operation.operationId)}"><span class="method ${method.toLowerCase()}">${method}</span> ${escapeHtml(operation.summary)}</a></li>`,
      );
    return `<h2><a href="#tag-${escapeHtml(tag.name)}">${escapeHtml(tag.name)}</a></h2><ul>${items.join('')}</ul>`;
  });
  return `<nav aria-label="Operations">${groups.join('')}<h2><a href="#errors">Errors</a></h2><h2><a href="#schemas">Schemas</a></h2></nav>`;
}

/** Renders the whole page. @param documentPath path of the OpenAPI document */
export function referencePage(document: OpenApi, documentPath: string): string {
  const all = operationsOf(document);
  const { title, version, description } = document.info;
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<article id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${members(schema)}</article>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} API reference</title><style>${STYLE}</style></head>
<body><a class="skip" href="#main">Skip to the reference</a>
<header><h1>${escapeHtml(title)} API <span class="version">${escapeHtml(version)}</span></h1>
<p>${prose(description)}</p>
<p>The same for programs: <a href="${escapeHtml(documentPath)}">OpenAPI 3.1</a>. A first call:</p>
<pre><code>curl -H "Authorization: Bearer $DOCKET_KEY" "$DOCKET_URL/api/v1/objects?pageSize=5"</code></pre></header>
${navigation(document, all)}
<main id="main">${document.tags.map((tag) => sectionOf(document, tag, all)).join('')}
${eventsOf(document)}
${errorsSection()}
<section id="schemas"><h2>Schemas</h2>${schemas.join('')}</section></main></body></html>
`;
}
