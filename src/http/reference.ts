/**
 * The API reference at `/docs` (docs/spec/conventions.md#health): Scalar, which renders both OpenAPI documents in the browser
 * and sends calls from there, and one static page for each error code.
 *
 * `tools/console.mjs` writes Scalar and its compressed copies to `web/dist/reference`. They are read from disk for each
 * answer, because they are large and rarely requested; browsers cache them permanently.
 */
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { exampleOf, FAULT_GUIDES } from '../contract/fault-guides.ts';
import { FAULTS, type FaultCode } from '../lib/fault-codes.ts';
import { encodingFor } from './console.ts';
import type { Page } from './pages.ts';

/** All codes that have a page. */
export const FAULT_CODES = Object.keys(FAULTS) as FaultCode[];

const SHARED_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HTML = 'text/html; charset=utf-8';

function pageHeaders(policy: string): Record<string, string> {
  return {
    'Content-Security-Policy': `${SHARED_POLICY}; ${policy}`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}

/** One OpenAPI document. @param url its path on this server */
export interface ReferenceSource {
  title: string;
  slug: string;
  url: string;
}

/** The names of the built script without its compressed copies: one, or none if the console was not built. */
export function referenceScript(consoleFolder: string | undefined): string | undefined {
  const folder = consoleFolder === undefined ? undefined : path.join(consoleFolder, 'reference');
  if (folder === undefined || !existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((file) => file.endsWith('.js'));
  return name === undefined ? undefined : path.join(folder, name);
}

/**
 * The reference page. Everything comes from this server, and calls go only to it. Scalar adds style elements and attributes at
 * run time, so the policy allows inline styles; scripts come only from this server and `eval` is forbidden. Without the script
 * the page only links to the documents.
 *
 * @param scriptPath path of the script on this server
 */
export function referencePage(sources: readonly ReferenceSource[], scriptPath: string | undefined): Page {
  const configuration = JSON.stringify({
    sources,
    withDefaultFonts: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    telemetry: false,
    authentication: { preferredSecurityScheme: 'key' },
    agent: { disabled: true },
    mcp: { disabled: true },
  }).replaceAll('<', String.raw`\u003c`);
  const items = sources.map(({ title, url }) => `<li><a href="${url}">${escapeHtml(title)}</a></li>`).join('');
  const links = `<h1>Docket API reference</h1><ul>${items}</ul>`;
  const script =
    scriptPath === undefined
      ? ''
      : `<script type="application/json" id="configuration">${configuration}</script><script src="${scriptPath}"></script>`;
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/favicon.svg"><title>Docket API reference</title></head>
<body>${scriptPath === undefined ? links : `<noscript>${links}</noscript>`}<div id="reference"></div>${script}</body></html>
`;
  const headers = {
    ...pageHeaders(
      "script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'",
    ),
    'Cache-Control': 'public, max-age=60',
  };
  return (context) => context.sendText(200, HTML, body, headers);
}

/** The script of the reference page. Its name contains a hash of its content. @param file path on disk */
export function referenceScriptPage(file: string): Page {
  const available = (['br', 'gzip'] as const).filter((name) => existsSync(packedName(file, name)));
  return async (context) => {
    const encoding = encodingFor(context.request.headers['accept-encoding'] ?? '', available);
    const body = await readFile(encoding === undefined ? file : packedName(file, encoding));
    context.sendText(200, 'text/javascript; charset=utf-8', body, {
      Vary: 'Accept-Encoding',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Cross-Origin-Resource-Policy': 'same-origin',
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    });
  };
}

function packedName(file: string, encoding: 'br' | 'gzip'): string {
  return `${file}.${encoding === 'br' ? 'br' : 'gz'}`;
}

/** The page of one `error.code`: meaning, cause, what to do, an example. The `Link` header of errors leads here. */
export function errorPage(code: FaultCode): Page {
  const { status, meaning } = FAULTS[code];
  const { cause, act } = FAULT_GUIDES[code];
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${code}</title></head>
<body><p><a href="/docs">API reference</a></p><h1>${code} (${status})</h1><p>${prose(meaning)}</p>
<h2>Cause</h2><p>${prose(cause)}</p><h2>What to do</h2><p>${prose(act)}</p>
<h2>Example</h2><pre><code>${escapeHtml(exampleOf(code))}</code></pre></body></html>
`;
  const headers = { ...pageHeaders("style-src 'none'"), 'Cache-Control': 'public, max-age=60' };
  return (context) => context.sendText(200, HTML, body, headers);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Escapes a description and renders its `code` spans. */
function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
