/** A page for each `error.code`: meaning, cause, what to do, an example, and links to the operations that return it. */
import { exampleOf, FAULT_GUIDES } from '../../contract/fault-guides.ts';
import { FAULTS, type FaultCode } from '../../lib/fault-codes.ts';
import type { OpenApi } from './page.ts';
import { escapeHtml, prose } from './schema.ts';
import { STYLE } from './style.ts';

/** All codes that have a page. */
export const FAULT_CODES = Object.keys(FAULTS) as FaultCode[];

/** Operations that can return the code, found by the names of their response references. */
function operationsWith(document: OpenApi, code: FaultCode): { id: string; summary: string }[] {
  return Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId: id, summary, responses }) => {
      const names = Object.values(responses).flatMap(
        ({ $ref = '' }) => $ref.split('/').at(-1)?.split('-').slice(2) ?? [],
      );
      return names.includes(code) ? [{ id, summary }] : [];
    }),
  );
}

export function faultPage(document: OpenApi, code: FaultCode): string {
  const { status, meaning } = FAULTS[code];
  const { cause, act } = FAULT_GUIDES[code];
  const all = operationsWith(document, code);
  const everywhere = all.length >= Object.values(document.paths).flatMap((item) => Object.keys(item)).length - 1;
  const items = all.map(({ id, summary }) => `<li><a href="/docs#${escapeHtml(id)}">${escapeHtml(summary)}</a></li>`);
  const from = everywhere ? '<p>Any operation.</p>' : `<ul>${items.join('')}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${code}</title><style>${STYLE}</style></head>
<body><header><p><a href="/docs#errors">API reference</a></p><h1>${code} <span class="version">${status}</span></h1>
<p>${prose(meaning)}</p></header>
<main id="main"><h2>Cause</h2><p>${prose(cause)}</p><h2>What to do</h2><p>${prose(act)}</p>
<h2>Example</h2><pre><code>${escapeHtml(exampleOf(code))}</code></pre>
${items.length === 0 ? '' : `<h2>Operations</h2>${from}`}</main></body></html>
`;
}
