/** Pages that only redirect the browser and set cookies: to an external sign-in and back. */
import { Fault } from '../lib/fault.ts';
import { cookie, singleHeader } from './headers.ts';
import { sourceName } from './unverified.ts';
import type { Page } from './probes.ts';
import type { Service } from './serve.ts';
import type { RedirectPage } from './types.ts';

const LONGEST_QUERY = 16_384;

export function redirectPage(
  page: RedirectPage['answer'],
  { origin, open, sender: senderOf }: Pick<Service, 'origin' | 'open' | 'sender'>,
): Page {
  return async (context) => {
    const { request } = context;
    const host = singleHeader(request, 'host');
    const [, query = ''] = (request.url ?? '').split('?', 2);
    if (host === undefined || !/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host) || query.length > LONGEST_QUERY) {
      const message = 'Send one Host header and a query of ordinary length.';
      throw new Fault('INVALID_REQUEST', message, [{ path: 'header.Host', code: 'INVALID', message }]);
    }
    const { ip, secure } = origin(request);
    const sender = senderOf(request, ip);
    const leave = open.enter(sourceName(sender));
    const { location, cookies } = await page({
      base: `${secure ? 'https' : 'http'}://${host}`,
      secure,
      query: new URLSearchParams(query),
      sender,
      cookie: (name) => cookie(request, name),
    }).finally(leave);
    context.sendText(302, 'text/plain; charset=utf-8', '', { Location: location, 'Set-Cookie': cookies });
  };
}
