import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SETTINGS_TABLE } from './settings-table.ts';
import { readSettings, SettingsError } from './settings.ts';

function problems(env: Record<string, string>): readonly string[] {
  try {
    readSettings(env);
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    return error.problems;
  }
  return [];
}

describe('settings', () => {
  test('have defaults', () => {
    assert.deepEqual(readSettings({ PATH: '/bin', DOCKET_UNKNOWN: 'x' }), {
      host: '127.0.0.1',
      port: 8080,
      dataDir: './data',
      databaseUrl: undefined,
      databaseReadUrl: undefined,
      databaseDirectUrl: undefined,
      blobs: { kind: 'file', folder: null },
      secretKey: undefined,
      pool: undefined,
      groupSize: 16,
      searchMemoryMb: 0,
      starter: 'itsm',
      rateLimit: 12000,
      trustedProxies: [],
      metricsAllow: ['127.0.0.0/8', '::1/128'],
      publicUrl: undefined,
      securityContact: undefined,
      smtp: undefined,
      dkim: undefined,
      webhookAllowPrivate: false,
      imapAllowPrivate: false,
      oidc: undefined,
      otlpEndpoint: undefined,
      traceSampling: { sampler: 'parentbased_always_on', ratio: 1 },
      auditHeads: undefined,
      migrate: true,
    });
  });

  test('read every variable', () => {
    const url = 's3://files?endpoint=https%3A%2F%2Fs3.example.org&region=eu';
    const settings = readSettings({
      DOCKET_HOST: '::',
      DOCKET_PORT: '0',
      DOCKET_DATA_DIR: '/srv/docket data',
      DATABASE_URL: 'postgres://u:p%40@db.example.org:5433/docket?sslmode=require',
      DATABASE_READ_URL: 'postgresql://u:p@replica/docket',
      DATABASE_DIRECT_URL: 'postgresql://u:p@direct/docket',
      DOCKET_BLOBS: url,
      DOCKET_SECRET_KEY: 'k'.repeat(32),
      DOCKET_POOL: '12',
      DOCKET_GROUP_COMMIT: '8',
      DOCKET_SEARCH_MEMORY_MB: '512',
      DOCKET_STARTER: 'none',
      DOCKET_RATE_LIMIT: 'off',
      DOCKET_TRUSTED_PROXIES: ' 10.0.0.0/8, fd00::/8 ,192.0.2.7,',
      DOCKET_METRICS_ALLOW: '0.0.0.0/0',
      DOCKET_PUBLIC_URL: 'https://docket.example.org/',
      DOCKET_SECURITY_CONTACT: 'mailto:security@example.org',
      DOCKET_SMTP_URL: 'smtps://desk:p%40ss@mail.example.org',
      DOCKET_DKIM: 'desk@example.org:/etc/docket/dkim.pem',
      DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true',
      DOCKET_IMAP_ALLOW_PRIVATE: 'true',
      DOCKET_OIDC_ISSUER: 'https://login.example.org/realm',
      DOCKET_OIDC_CLIENT_ID: 'docket',
      DOCKET_OIDC_CLIENT_SECRET: 'hush',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      DOCKET_AUDIT_HEADS: 's3://audit/docket?endpoint=https://minio',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      DOCKET_MIGRATE: 'off',
    });
    assert.deepEqual(settings, {
      host: '::',
      port: 0,
      dataDir: '/srv/docket data',
      databaseUrl: 'postgres://u:p%40@db.example.org:5433/docket?sslmode=require',
      databaseReadUrl: 'postgresql://u:p@replica/docket',
      databaseDirectUrl: 'postgresql://u:p@direct/docket',
      blobs: { kind: 's3', bucket: 'files', endpoint: 'https://s3.example.org', url },
      secretKey: 'k'.repeat(32),
      pool: 12,
      groupSize: 8,
      searchMemoryMb: 512,
      starter: 'none',
      rateLimit: 'off',
      trustedProxies: ['10.0.0.0/8', 'fd00::/8', '192.0.2.7'],
      metricsAllow: ['0.0.0.0/0'],
      publicUrl: 'https://docket.example.org',
      securityContact: 'mailto:security@example.org',
      smtp: {
        host: 'mail.example.org',
        port: 465,
        secure: true,
        requireTLS: false,
        auth: { user: 'desk', pass: 'p@ss' },
      },
      dkim: { domainName: 'example.org', keySelector: 'desk', keyFile: '/etc/docket/dkim.pem' },
      webhookAllowPrivate: true,
      imapAllowPrivate: true,
      oidc: { issuer: 'https://login.example.org/realm', clientId: 'docket', clientSecret: 'hush' },
      otlpEndpoint: 'http://collector:4318',
      traceSampling: { sampler: 'traceidratio', ratio: 0.25 },
      auditHeads: 's3://audit/docket?endpoint=https://minio',
      migrate: false,
    });
  });

  test('are deeply frozen', () => {
    const settings = readSettings({ DOCKET_TRUSTED_PROXIES: '10.0.0.1' });
    for (const part of [settings, settings.blobs, settings.trustedProxies, settings.metricsAllow]) {
      assert.ok(Object.isFrozen(part));
    }
  });

  test('treat empty and blank values as absent', () => {
    const blank = Object.fromEntries(SETTINGS_TABLE.map((row, index) => [row.name, index % 2 === 0 ? '' : '  ']));
    assert.deepEqual(readSettings(blank), readSettings({}));
  });

  test('report all problems at once', () => {
    const found = problems({
      DOCKET_HOST: 'http://here',
      DOCKET_PORT: '80a',
      DOCKET_RATE_LIMIT: '-1',
      DOCKET_STARTER: 'crm',
      DOCKET_TRUSTED_PROXIES: '10.0.0.0/33',
      DOCKET_MIGRATE: 'no',
    });
    assert.deepEqual(found, [
      'DOCKET_HOST must be an IP address or a host name.',
      'DOCKET_PORT must be a whole number from 0 to 65535.',
      'DOCKET_STARTER must be itsm or none.',
      'DOCKET_RATE_LIMIT must be a whole number of 1 or more, or off.',
      'DOCKET_TRUSTED_PROXIES must be IP addresses or CIDR ranges separated by commas, such as 10.0.0.0/8,::1.',
      'DOCKET_MIGRATE must be on or off.',
    ]);
    assert.throws(
      () => readSettings({ DOCKET_PORT: 'x', DOCKET_MIGRATE: 'x' }),
      /^SettingsError: 2 settings are wrong:\n {2}DOCKET_PORT .*\n {2}DOCKET_MIGRATE /,
    );
  });

  const wrong: [string, string][] = [
    ['DOCKET_HOST', '300.1.1.1'],
    ['DOCKET_HOST', 'a b'],
    ['DOCKET_HOST', '127.0.0.1:80'],
    ['DOCKET_PORT', '65536'],
    ['DOCKET_PORT', '1e3'],
    ['DOCKET_PORT', '+80'],
    ['DOCKET_PORT', '80.0'],
    ['DATABASE_URL', 'mysql://u:p@h/d'],
    ['DATABASE_URL', 'localhost/docket'],
    ['DOCKET_BLOBS', 's3://'],
    ['DOCKET_BLOBS', 's3://b?endpoint=here'],
    ['DOCKET_BLOBS', '/srv/files'],
    ['DOCKET_SECRET_KEY', 'short'],
    ['DOCKET_RATE_LIMIT', '0'],
    ['DOCKET_RATE_LIMIT', 'OFF'],
    ['DOCKET_METRICS_ALLOW', 'localhost'],
    ['DOCKET_METRICS_ALLOW', '10.0.0.0/8/8'],
    ['DOCKET_METRICS_ALLOW', '::1/129'],
    ['DOCKET_WEBHOOK_ALLOW_PRIVATE', '1'],
    ['DOCKET_IMAP_ALLOW_PRIVATE', 'yes'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['DOCKET_AUDIT_HEADS', 'heads.log'],
    ['DOCKET_AUDIT_HEADS', 'http://collector'],
  ];
  for (const [name, value] of wrong) {
    test(`reject ${name}=${value}`, () => {
      const found = problems({ [name]: value });
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', new RegExp(`^${name} must be `));
    });
  }

  test('accept host names as addresses, and folders for attachments', () => {
    assert.equal(readSettings({ DOCKET_HOST: 'localhost' }).host, 'localhost');
    assert.equal(readSettings({ DOCKET_HOST: 'docket-1.example.org' }).host, 'docket-1.example.org');
    assert.deepEqual(readSettings({ DOCKET_BLOBS: 'file:/srv/files' }).blobs, { kind: 'file', folder: '/srv/files' });
    assert.deepEqual(readSettings({ DOCKET_BLOBS: 'file:///srv/files' }).blobs, { kind: 'file', folder: '/srv/files' });
    assert.equal(
      readSettings({ DATABASE_URL: 'postgres:///docket?host=/run' }).databaseUrl,
      'postgres:///docket?host=/run',
    );
  });

  test('validate trace samplers only if traces are exported', () => {
    const sent = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    const sampling = (env: Record<string, string>): unknown => readSettings({ ...sent, ...env }).traceSampling;
    for (const sampler of ['always_on', 'always_off', 'parentbased_always_on', 'parentbased_always_off']) {
      // The argument applies only to the ratio samplers.
      const given = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: 'x' };
      assert.deepEqual(sampling(given), { sampler, ratio: 1 });
    }
    for (const sampler of ['traceidratio', 'parentbased_traceidratio']) {
      assert.deepEqual(sampling({ OTEL_TRACES_SAMPLER: sampler }), { sampler, ratio: 1 });
      for (const [text, ratio] of [
        ['0', 0],
        ['.05', 0.05],
        ['1e-3', 0.001],
        ['1', 1],
      ] as const) {
        const given = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: text };
        assert.deepEqual(sampling(given), { sampler, ratio });
      }
      for (const text of ['-0.1', '1.01', 'half', '5%', 'Infinity']) {
        const given = { ...sent, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: text };
        assert.match(problems(given).join(), /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/);
      }
    }
    assert.match(problems({ ...sent, OTEL_TRACES_SAMPLER: 'xray' }).join(), /^OTEL_TRACES_SAMPLER must be parentbased/);
    assert.deepEqual(problems({ OTEL_TRACES_SAMPLER: 'xray', OTEL_TRACES_SAMPLER_ARG: 'x' }), []);
  });

  test('require issuer and client together, and https, for sign-in by a provider', () => {
    const issuer = 'https://login.example.org';
    assert.deepEqual(problems({ DOCKET_OIDC_ISSUER: issuer }), [
      'DOCKET_OIDC_CLIENT_ID is needed too when another DOCKET_OIDC_ variable is set.',
    ]);
    assert.deepEqual(problems({ DOCKET_OIDC_CLIENT_SECRET: 'x' }).length, 2);
    assert.equal(problems({ DOCKET_OIDC_ISSUER: 'http://login.example.org', DOCKET_OIDC_CLIENT_ID: 'd' }).length, 1);
    assert.equal(problems({ DOCKET_OIDC_ISSUER: 'http://localhost:9000', DOCKET_OIDC_CLIENT_ID: 'd' }).length, 0);
    const open = readSettings({ DOCKET_OIDC_ISSUER: issuer, DOCKET_OIDC_CLIENT_ID: 'd' });
    assert.equal(open.oidc?.clientSecret, undefined);
  });

  test('require a primary for a replica', () => {
    assert.match(problems({ DATABASE_READ_URL: 'postgres://h/d' })[0] ?? '', /^DATABASE_READ_URL needs DATABASE_URL/);
  });

  const PASSWORD = 'hunter2';
  /** Values with a password, of which some setting takes or refuses each. */
  const HOSTILE = [
    PASSWORD,
    `https://user:${PASSWORD}@docket.example.org/path?x=${PASSWORD}#y`,
    `http://user:${PASSWORD}@docket.example.org`,
    `https://user:${PASSWORD}@docket.example.org`,
    `ftp://user:${PASSWORD}@h`,
    `postgres:/user:${PASSWORD}@h:x`,
    `s3://key:${PASSWORD}@?endpoint=${PASSWORD}`,
    `smtp://user:${PASSWORD}%@h?tls=off`,
    `mailto:${PASSWORD} x@example.org`,
    `10.0.0.0/8,${PASSWORD}\0`,
  ];

  test('never show a value in a message, whichever setting it is', () => {
    const refused = new Set<string>();
    for (const { name } of SETTINGS_TABLE) {
      for (const value of HOSTILE) {
        // Samplers are read only if traces are sent.
        const found = problems({
          OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
          OTEL_TRACES_SAMPLER: 'traceidratio',
          [name]: value,
        });
        if (found.length > 0) refused.add(name);
        assert.ok(!new SettingsError(found).message.includes(PASSWORD), `${name}=${value}: ${found.join(' ')}`);
      }
    }
    assert.deepEqual(
      SETTINGS_TABLE.map(({ name }) => name).filter((name) => !refused.has(name)),
      [],
    );
  });

  test('publish no user and no password', () => {
    for (const name of ['DOCKET_PUBLIC_URL', 'DOCKET_SECURITY_CONTACT', 'DOCKET_OIDC_ISSUER']) {
      const found = problems({ DOCKET_OIDC_CLIENT_ID: 'd', [name]: `https://user:${PASSWORD}@docket.example.org` });
      assert.match(found[0] ?? '', new RegExp(`^${name} must be .*user`), name);
    }
  });

  test('can be printed as a table', () => {
    const names = SETTINGS_TABLE.map((row) => row.name);
    assert.equal(new Set(names).size, names.length);
    assert.equal(names.length, 29);
    for (const row of SETTINGS_TABLE) assert.match(row.meaning, /^[\w/].*\.$/, row.name);
  });
});
