/** Serves the API reference at `/docs`. */
import { createHash } from 'node:crypto';
import type { Page } from '../probes.ts';
import { type OpenApi, referencePage } from './page.ts';
import { STYLE } from './style.ts';

/** The page of a document; made when first asked for, the same for all. @param documentPath where the document is served */
export function docsPage(document: object, documentPath: string): Page {
  let body: Buffer | undefined;
  const style = createHash('sha256').update(STYLE).digest('base64');
  const headers = {
    'Cache-Control': 'public, max-age=60',
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  return (exchange) => {
    body ??= Buffer.from(referencePage(document as OpenApi, documentPath));
    exchange.sendText(200, 'text/html; charset=utf-8', body, headers);
  };
}
