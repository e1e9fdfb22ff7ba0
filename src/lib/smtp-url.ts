/** The mail server (`DOCKET_SMTP_URL`) and the key that signs mails (`DOCKET_DKIM`). */

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the start. */
  secure: boolean;
  /** STARTTLS, without which nothing is sent. */
  requireTLS: boolean;
  auth?: { user: string; pass: string };
}

/**
 * Reads `smtps://user:password@host:465` (TLS from the start) or `smtp://host:587` (STARTTLS, which is required). Only
 * `smtp://host:25?tls=off` sends without encryption, for a server on the same machine; it takes no password.
 *
 * @throws Error with a sentence that does not contain the address
 */
export function readSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('It is not an address such as smtps://user:password@mail.example.org.');
  }
  const unknown = [...url.searchParams].find(([name, value]) => name !== 'tls' || value !== 'off');
  if (unknown !== undefined || !['', '/'].includes(url.pathname) || url.hash !== '') {
    throw new Error('The address has an unknown part. Only ?tls=off can follow the host and port.');
  }
  const secure = url.protocol === 'smtps:';
  const plain = url.searchParams.has('tls');
  const hasPassword = url.username !== '' || url.password !== '';
  if (plain && (secure || hasPassword)) {
    throw new Error('?tls=off is possible only with smtp:// and without a user name and password.');
  }
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    secure,
    requireTLS: !secure && !plain,
    ...(hasPassword ? { auth: { user: decoded(url.username), pass: decoded(url.password) } } : {}),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('The user name or password has a "%" that is not followed by two hexadecimal digits.');
  }
}

/** The key that signs mails (DKIM). */
export interface DkimKey {
  domainName: string;
  keySelector: string;
  /** Path of the private key in PEM. */
  keyFile: string;
}

/** Reads `SELECTOR@DOMAIN:FILE`; undefined if it has another form. */
export function readDkimKey(text: string): DkimKey | undefined {
  const [, keySelector, domainName, keyFile] = /^([a-z0-9._-]+)@([a-z0-9.-]+):(.+)$/i.exec(text) ?? [];
  if (keySelector === undefined || domainName === undefined || keyFile === undefined) return undefined;
  return { keySelector, domainName, keyFile };
}
