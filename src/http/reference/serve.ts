/** Serves the API reference at `/docs` and a page for each error below it. */
import { createHash } from 'node:crypto';
import type { FaultCode } from '../../lib/fault-codes.ts';
import type { Page } from '../probes.ts';
import { faultPage } from './faults.ts';
import { type OpenApi, referencePage } from './page.ts';
import { STYLE } from './style.ts';

/** The reference page of a document. Rendered on the first request, then cached. @param documentPath path of the document */
export function docsPage(document: object, documentPath: string): Page {
  return pageOf(() => referencePage(document as OpenApi, documentPath));
}

/** The page of one `error.code`. */
export function errorPage(document: object, code: FaultCode): Page {
  return pageOf(() => faultPage(document as OpenApi, code));
}

function pageOf(write: () => string): Page {
  let body: Buffer | undefined;
  const style = createHash('sha256').update(STYLE).digest('base64');
  const headers = {
    'Cache-Control': 'public, max-age=60',
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  return (context) => {
    body ??= Buffer.from(write());
    context.sendText(200, 'text/html; charset=utf-8', body, headers);
  };
}
