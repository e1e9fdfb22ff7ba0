/** The variables of the service and their meaning, for the documentation and for errors. */

export interface SettingRow {
  readonly name: string;
  /** Default for an absent or empty variable; empty if there is none. */
  readonly default: string;
  readonly meaning: string;
}

/** All settings, in the order of the documentation. */
export const SETTINGS_TABLE = [
  { name: 'DOCKET_HOST', default: '127.0.0.1', meaning: 'Address that the service listens on.' },
  { name: 'DOCKET_PORT', default: '8080', meaning: 'Port that the service listens on; 0 selects a free port.' },
  { name: 'DOCKET_DATA_DIR', default: './data', meaning: 'Folder for the embedded database, attachments and keys.' },
  {
    name: 'DATABASE_URL',
    default: '',
    meaning:
      'Connection URL of PostgreSQL 15 to 18, postgres://…; if not set: the embedded PostgreSQL in the data folder.',
  },
  {
    name: 'DATABASE_READ_URL',
    default: '',
    meaning: 'Connection URL of a streaming replica, which serves lists, search, history and exports.',
  },
  {
    name: 'DATABASE_DIRECT_URL',
    default: '',
    meaning: 'Connection URL that bypasses a pooler, for index builds and LISTEN; if not set: DATABASE_URL.',
  },
  {
    name: 'DOCKET_BLOBS',
    default: 'file:',
    meaning: 'Storage of attachments: file: (in the data folder), file:/FOLDER, or s3://BUCKET?endpoint=URL.',
  },
  {
    name: 'DOCKET_SECRET_KEY',
    default: '',
    meaning:
      'Master key that encrypts stored secrets, at least 32 characters; if not set: master.key in the data folder, created once.',
  },
  {
    name: 'DOCKET_POOL',
    default: '',
    meaning:
      'Maximum number of database connections of one process, 4 to 1000; if not set: 20, or fewer under serve --processes.',
  },
  {
    name: 'DOCKET_GROUP_COMMIT',
    default: '16',
    meaning: 'Maximum number of concurrent changes that are committed by one statement, 1 to 16; 1 turns grouping off.',
  },
  { name: 'DOCKET_SEARCH_MEMORY_MB', default: '0', meaning: 'Memory of the search index of a process in MB; 0: none.' },
  { name: 'DOCKET_STARTER', default: 'itsm', meaning: 'Configuration applied to an empty database: itsm or none.' },
  { name: 'DOCKET_RATE_LIMIT', default: '12000', meaning: 'Requests per minute and API key, or off.' },
  {
    name: 'DOCKET_TRUSTED_PROXIES',
    default: '',
    meaning: 'Proxies whose X-Forwarded-For is trusted: addresses or CIDR ranges, separated by commas.',
  },
  {
    name: 'DOCKET_METRICS_ALLOW',
    default: '127.0.0.0/8,::1/128',
    meaning: 'Clients that may read /metrics: addresses or CIDR ranges, separated by commas.',
  },
  {
    name: 'DOCKET_PUBLIC_URL',
    default: '',
    meaning: 'Public URL of the service, such as https://docket.example.org; with https, responses carry HSTS.',
  },
  {
    name: 'DOCKET_SECURITY_CONTACT',
    default: '',
    meaning:
      'Contact for vulnerability reports in /.well-known/security.txt: a mailto:, https: or tel: URI; if not set: no such file.',
  },
  {
    name: 'DOCKET_SMTP_URL',
    default: '',
    meaning:
      'Mail server: smtps://USER:PASSWORD@HOST (TLS), or smtp://HOST:587 (STARTTLS, which is required; ?tls=off turns it off where there is no password). Needs DOCKET_PUBLIC_URL. If not set, no mails are sent.',
  },
  {
    name: 'DOCKET_DKIM',
    default: '',
    meaning: 'Key that signs mails: SELECTOR@DOMAIN:FILE, a private key in PEM. If not set, mails are not signed.',
  },
  {
    name: 'DOCKET_WEBHOOK_ALLOW_PRIVATE',
    default: 'false',
    meaning: 'true allows webhooks to private and loopback addresses, for development and tests.',
  },
  {
    name: 'DOCKET_IMAP_ALLOW_PRIVATE',
    default: 'false',
    meaning: 'true allows mailboxes (IMAP) on private and loopback addresses.',
  },
  { name: 'DOCKET_OIDC_ISSUER', default: '', meaning: 'OpenID Connect issuer for signing in to the console.' },
  { name: 'DOCKET_OIDC_CLIENT_ID', default: '', meaning: 'Client id registered with the issuer.' },
  {
    name: 'DOCKET_OIDC_CLIENT_SECRET',
    default: '',
    meaning: 'Client secret; not set for a public client.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: '',
    meaning: 'OTLP endpoint for traces; if not set, no traces are recorded.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    meaning:
      'Which traces are recorded: always_on, always_off, traceidratio, or one of these with the prefix parentbased_, which follows the decision of a caller that sends traceparent.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    meaning: 'For traceidratio and parentbased_traceidratio: the share of recorded traces, from 0 to 1.',
  },
  {
    name: 'DOCKET_AUDIT_HEADS',
    default: '',
    meaning:
      'Destination outside the database for heads of the audit chain: file:/PATH, s3://BUCKET/FOLDER?endpoint=URL or https://….',
  },
  { name: 'DOCKET_MIGRATE', default: 'on', meaning: 'off: serve does not migrate the database schema.' },
] as const satisfies readonly SettingRow[];
