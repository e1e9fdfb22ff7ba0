/**
 * Reads the settings of the service (docs/spec/configuration.md#command-line): environment → one frozen typed object. Only this
 * file knows the names of the variables. It has no side effects; the environment is a parameter.
 */
import { type DkimKey, readDkimKey, readSmtpUrl, type SmtpServer } from './lib/smtp-url.ts';
import { nearNames } from './lib/near-names.ts';
import { type SettingRow, SETTINGS_TABLE } from './settings-table.ts';
import {
  contactUri,
  databaseUrl,
  hostName,
  issuerUrl,
  originUrl,
  parsedUrl,
  ranges,
  share,
  webUrl,
  wholeNumber,
} from './lib/setting-values.ts';

/** Storage of attachments. */
export type BlobSettings =
  | { readonly kind: 'file' /** Null: below the data folder. */; readonly folder: string | null }
  | { readonly kind: 's3'; readonly bucket: string; readonly endpoint: string | null; readonly url: string };

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

const TRACE_SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

/** Which traces are recorded. The sampler names are those of the OpenTelemetry specification. */
export interface TraceSampling {
  readonly sampler: (typeof TRACE_SAMPLERS)[number];
  /** For ratio samplers: the share of recorded traces, 0 to 1. */
  readonly ratio: number;
}

export interface Settings {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** As given; may be relative to the working directory. */
  readonly dataDir: string;
  /** Undefined selects the embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly databaseReadUrl: string | undefined;
  /** Connection that bypasses a pooler. Undefined if there is no pooler or no way around it. */
  readonly databaseDirectUrl: string | undefined;
  readonly blobs: BlobSettings;
  /** Undefined: the key is stored in the data folder. */
  readonly secretKey: string | undefined;
  /** Maximum number of connections of one process; undefined: computed. */
  readonly pool: number | undefined;
  /** Maximum number of changes in one statement; 1 turns group commit off. */
  readonly groupSize: number;
  /** Memory of the search index of one process in MB; 0 turns it off. */
  readonly searchMemoryMb: number;
  readonly starter: 'itsm' | 'none';
  /** Requests per minute and key. */
  readonly rateLimit: number | 'off';
  /** CIDR lists. */
  readonly trustedProxies: readonly string[];
  readonly metricsAllow: readonly string[];
  /** Public URL of the service, without a path. */
  readonly publicUrl: string | undefined;
  /** Contact for security reports: a mailto, https or tel URI. */
  readonly securityContact: string | undefined;
  /** The mail server; undefined: no mails are sent. */
  readonly smtp: SmtpServer | undefined;
  /** Signs mails; undefined: the mail server does, or nobody. */
  readonly dkim: DkimKey | undefined;
  readonly webhookAllowPrivate: boolean;
  readonly imapAllowPrivate: boolean;
  readonly oidc: OidcSettings | undefined;
  readonly otlpEndpoint: string | undefined;
  readonly traceSampling: TraceSampling;
  /** Where heads of the audit chain are written; undefined: only to the log. */
  readonly auditHeads: string | undefined;
  /** True if `serve` migrates the schema at startup. */
  readonly migrate: boolean;
}

/** Variables that name a service elsewhere, for the commands that take `--url`. */
export const REMOTE_TABLE = [
  { name: 'DOCKET_URL', default: '', meaning: 'Address of a service elsewhere, as `--url`.' },
  { name: 'DOCKET_KEY', default: '', meaning: 'API key for that service, with the scope `admin:manage`.' },
] as const satisfies readonly SettingRow[];

/** The variables of REMOTE_TABLE without surrounding blanks; empty if absent. Not validated. */
export function remoteSettings(env: Readonly<Record<string, string | undefined>>): { url: string; key: string } {
  return { url: env['DOCKET_URL']?.trim() ?? '', key: env['DOCKET_KEY']?.trim() ?? '' };
}

type Name = (typeof SETTINGS_TABLE)[number]['name'];

/** One or more settings are invalid; the message has a line for each. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'A setting is wrong' : `${problems.length} settings are wrong`;
    super([`${count}:`, ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

const SHORTEST_KEY = 32;

/** Reads variables and collects all errors, so that they are reported at once. */
class Reader {
  readonly problems: string[] = [];
  readonly #env: Record<string, string | undefined>;

  constructor(env: Record<string, string | undefined>) {
    this.#env = env;
  }

  /** The given value, else the default; undefined if there is neither. */
  text(name: Name): string | undefined {
    const given = this.#env[name]?.trim() ?? '';
    const value = given === '' ? (SETTINGS_TABLE.find((row) => row.name === name)?.default ?? '') : given;
    return value === '' ? undefined : value;
  }

  /** `parse` returns undefined for an invalid value. `instead` is then returned until all errors are thrown together. */
  value<T>(name: Name, must: string, instead: T, parse: (text: string) => T | undefined): T {
    const text = this.text(name);
    if (text === undefined) return instead;
    const value = parse(text);
    if (value !== undefined) return value;
    this.wrong(name, `must be ${must}`);
    return instead;
  }

  oneOf<const T extends string>(name: Name, options: readonly [T, ...T[]]): T {
    const must = options.join(' or ');
    return this.value<T>(name, must, options[0], (text) => options.find((option) => option === text));
  }

  /** The value is never shown: a password may be part of any value, or stand in the wrong variable. */
  wrong(name: Name, problem: string): void {
    this.problems.push(`${name} ${problem}.`);
  }
}

/** The sampler variables are ignored if no traces are sent: they are often set for a whole machine. */
function traceSampling(reader: Reader, wanted: boolean): TraceSampling {
  if (!wanted) return Object.freeze({ sampler: TRACE_SAMPLERS[0], ratio: 1 });
  const sampler = reader.oneOf('OTEL_TRACES_SAMPLER', TRACE_SAMPLERS);
  const byRatio = sampler.endsWith('traceidratio');
  const ratio = byRatio ? reader.value('OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1', 1, share) : 1;
  return Object.freeze({ sampler, ratio });
}

function blobs(text: string): BlobSettings | undefined {
  if (text === 'file:') return { kind: 'file', folder: null };
  if (text.startsWith('file:')) return { kind: 'file', folder: text.slice('file:'.length).replace(/^\/\/(?=\/)/, '') };
  const url = parsedUrl(text, ['s3:']);
  if (url === undefined || url.hostname === '') return undefined;
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint !== null && webUrl(endpoint) === undefined) return undefined;
  return { kind: 's3', bucket: url.hostname, endpoint, url: text };
}

function smtpServer(text: string): SmtpServer | undefined {
  try {
    return readSmtpUrl(text);
  } catch {
    return undefined;
  }
}

function auditHeads(text: string): string | undefined {
  if (text.startsWith('file:/')) return text;
  if (text.startsWith('s3:')) return blobs(text) === undefined ? undefined : text;
  return parsedUrl(text, ['https:']) === undefined ? undefined : text;
}

function oidc(reader: Reader): OidcSettings | undefined {
  const given = reader.text('DOCKET_OIDC_ISSUER');
  const issuer = reader.value('DOCKET_OIDC_ISSUER', 'an https URL without query, user and password', given, issuerUrl);
  const clientId = reader.text('DOCKET_OIDC_CLIENT_ID');
  const clientSecret = reader.text('DOCKET_OIDC_CLIENT_SECRET');
  if (issuer !== undefined && clientId !== undefined) return Object.freeze({ issuer, clientId, clientSecret });
  const needed = 'is needed too when another DOCKET_OIDC_ variable is set';
  const some = [issuer, clientId, clientSecret].some((value) => value !== undefined);
  if (some && issuer === undefined) reader.wrong('DOCKET_OIDC_ISSUER', needed);
  if (some && clientId === undefined) reader.wrong('DOCKET_OIDC_CLIENT_ID', needed);
  return undefined;
}

/**
 * Remarks on variables that look like misspelt settings; other variables may belong to something else. The values are not shown:
 * they may be passwords.
 */
export function misspeltSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...SETTINGS_TABLE, ...REMOTE_TABLE].map(({ name }): string => name);
  // DOCKET_…, DATABASE_… and what resembles them.
  const own = /^[A-Z]{5,10}_[A-Z_]+$/;
  return Object.keys(env)
    .filter((name) => own.test(name) && !known.includes(name))
    .flatMap((name) => {
      const meant = nearNames(name, known, 2);
      return meant.length === 0 ? [] : `There is no setting ${name}. Did you mean ${meant.join(' or ')}?`;
    });
}

/**
 * Reads the settings from an environment. Variables that are absent, empty or blank take their defaults. Unknown variables are
 * ignored (`misspeltSettings`).
 *
 * @throws SettingsError that names every invalid variable, and no value
 */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const reader = new Reader(env);
  const database = 'a URL like postgres://user:password@host:5432/database';
  const addresses = 'IP addresses or CIDR ranges separated by commas, such as 10.0.0.0/8,::1';
  const none: readonly string[] = Object.freeze([]);
  const settings: Settings = {
    host: reader.value('DOCKET_HOST', 'an IP address or a host name', '', hostName),
    port: reader.value('DOCKET_PORT', 'a whole number from 0 to 65535', 0, (text) => wholeNumber(text, 0, 65_535)),
    dataDir: reader.value('DOCKET_DATA_DIR', 'the path of a folder', '', (text) =>
      text.includes('\0') ? undefined : text,
    ),
    databaseUrl: reader.value<string | undefined>('DATABASE_URL', database, undefined, databaseUrl),
    databaseReadUrl: reader.value<string | undefined>('DATABASE_READ_URL', database, undefined, databaseUrl),
    databaseDirectUrl: reader.value<string | undefined>('DATABASE_DIRECT_URL', database, undefined, databaseUrl),
    blobs: Object.freeze(
      reader.value<BlobSettings>(
        'DOCKET_BLOBS',
        'file:, file:/FOLDER or s3://BUCKET?endpoint=URL',
        { kind: 'file', folder: null },
        blobs,
      ),
    ),
    secretKey: reader.value<string | undefined>(
      'DOCKET_SECRET_KEY',
      `at least ${SHORTEST_KEY} characters long`,
      undefined,
      (text) => (text.length >= SHORTEST_KEY ? text : undefined),
    ),
    pool: reader.value<number | undefined>('DOCKET_POOL', 'a whole number from 4 to 1000', undefined, (text) =>
      wholeNumber(text, 4, 1000),
    ),
    groupSize: reader.value<number>('DOCKET_GROUP_COMMIT', 'a whole number from 1 to 16', 16, (text) =>
      wholeNumber(text, 1, 16),
    ),
    searchMemoryMb: reader.value('DOCKET_SEARCH_MEMORY_MB', 'a whole number from 0 to 65536', 0, (text) =>
      wholeNumber(text, 0, 65_536),
    ),
    starter: reader.oneOf('DOCKET_STARTER', ['itsm', 'none']),
    rateLimit: reader.value<number | 'off'>(
      'DOCKET_RATE_LIMIT',
      'a whole number of 1 or more, or off',
      'off',
      (text) => (text === 'off' ? 'off' : wholeNumber(text, 1, 1_000_000_000)),
    ),
    trustedProxies: reader.value('DOCKET_TRUSTED_PROXIES', addresses, none, ranges),
    metricsAllow: reader.value('DOCKET_METRICS_ALLOW', addresses, none, ranges),
    publicUrl: reader.value<string | undefined>(
      'DOCKET_PUBLIC_URL',
      'an http or https URL without path, query or user',
      undefined,
      originUrl,
    ),
    securityContact: reader.value<string | undefined>(
      'DOCKET_SECURITY_CONTACT',
      'a mailto:, https: or tel: URI without user and password',
      undefined,
      contactUri,
    ),
    smtp: reader.value<SmtpServer | undefined>(
      'DOCKET_SMTP_URL',
      'a URL like smtps://user:password@mail.example.org or smtp://mail.example.org:587; ?tls=off is possible only with smtp and without a password',
      undefined,
      smtpServer,
    ),
    dkim: reader.value<DkimKey | undefined>('DOCKET_DKIM', 'SELECTOR@DOMAIN:FILE', undefined, readDkimKey),
    webhookAllowPrivate: reader.oneOf('DOCKET_WEBHOOK_ALLOW_PRIVATE', ['false', 'true']) === 'true',
    imapAllowPrivate: reader.oneOf('DOCKET_IMAP_ALLOW_PRIVATE', ['false', 'true']) === 'true',
    oidc: oidc(reader),
    otlpEndpoint: reader.value<string | undefined>(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'an http or https URL',
      undefined,
      webUrl,
    ),
    traceSampling: traceSampling(reader, reader.text('OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined),
    auditHeads: reader.value<string | undefined>(
      'DOCKET_AUDIT_HEADS',
      'file:/PATH, s3://BUCKET/FOLDER?endpoint=URL or an https URL',
      undefined,
      auditHeads,
    ),
    migrate: reader.oneOf('DOCKET_MIGRATE', ['on', 'off']) === 'on',
  };
  if (settings.databaseReadUrl !== undefined && reader.text('DATABASE_URL') === undefined) {
    reader.wrong('DATABASE_READ_URL', 'needs DATABASE_URL: the embedded database has no replica');
  }
  if (settings.smtp !== undefined && settings.publicUrl === undefined) {
    reader.wrong('DOCKET_SMTP_URL', 'needs DOCKET_PUBLIC_URL: mails link to records');
  }
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return Object.freeze(settings);
}
