/** Strapi, with two content types and a token with full access: it has no row conditions without a plugin. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { environmentOf, fillTickets, install, type Rival, type RivalOptions, startRival, versionOf } from './rival.ts';

const TICKET = {
  title: { type: 'string' },
  description: { type: 'text' },
  priority: { type: 'string' },
  area: { type: 'string' },
  assignee: { type: 'string' },
  effort: { type: 'integer' },
  due: { type: 'date' },
  startedAt: { type: 'datetime' },
  tags: { type: 'json' },
  asset: { type: 'string' },
};

const NOTE = {
  body: { type: 'text' },
  visibility: { type: 'string' },
  ticket: { type: 'string' },
};

function typeFiles(name: string, attributes: object): Record<string, string> {
  const schema = {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish: false },
    attributes,
  };
  const made = (what: string): string =>
    `module.exports = require('@strapi/strapi').factories.createCore${what}('api::${name}.${name}');\n`;
  return {
    [`src/api/${name}/content-types/${name}/schema.json`]: JSON.stringify(schema),
    [`src/api/${name}/controllers/${name}.js`]: made('Controller'),
    [`src/api/${name}/services/${name}.js`]: made('Service'),
    [`src/api/${name}/routes/${name}.js`]: made('Router'),
  };
}

const TOKEN_FILE = 'token.txt';

const FILES: Record<string, string> = {
  ...typeFiles('ticket', TICKET),
  ...typeFiles('note', NOTE),
  'config/database.js':
    "module.exports = ({ env }) => ({ connection: { client: 'postgres', connection: { connectionString: env('DATABASE_URL') }, pool: { min: 2, max: 20 } } });\n",
  'config/server.js':
    "module.exports = ({ env }) => ({ host: '127.0.0.1', port: env.int('PORT'), app: { keys: [env('SECRET')] } });\n",
  'config/admin.js':
    "module.exports = ({ env }) => ({ serveAdminPanel: false, auth: { secret: env('SECRET') }, apiToken: { salt: env('SECRET') }, transfer: { token: { salt: env('SECRET') } }, secrets: { encryptionKey: env('SECRET') } });\n",
  'config/middlewares.js':
    "module.exports = ['strapi::errors', 'strapi::security', 'strapi::cors', 'strapi::query', 'strapi::body', 'strapi::session', 'strapi::favicon', 'strapi::public'];\n",
  'src/index.js': `module.exports = {
  async bootstrap({ strapi }) {
    const token = await strapi.service('admin::api-token').create({ name: 'bench', description: '', type: 'full-access', lifespan: null });
    require('node:fs').writeFileSync('${TOKEN_FILE}', token.accessKey);
  },
};
`,
  'public/uploads/.gitkeep': '',
};

export async function startStrapi(options: RivalOptions): Promise<Rival> {
  const { folder, port, databaseUrl } = options;
  await install(folder, {
    '@strapi/strapi': '5.54.0',
    pg: '8',
    react: '18',
    'react-dom': '18',
    'react-router-dom': '6',
    'styled-components': '6',
  });
  await rm(path.join(folder, TOKEN_FILE), { force: true });
  for (const [name, content] of Object.entries(FILES)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const env = environmentOf({
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    SECRET: randomBytes(32).toString('hex'),
    STRAPI_TELEMETRY_DISABLED: 'true',
  });
  const command = path.join(folder, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js');
  const child = await startRival(options, [command, 'start'], env, '/_health');
  const key = await readFile(path.join(folder, TOKEN_FILE), 'utf8');
  const ids = await fillTickets(options, {
    table: 'tickets',
    id: 'document_id',
    startedAt: 'started_at',
    createdAt: 'created_at',
    others: { updated_at: 'at', published_at: 'at' },
  });
  const version = await versionOf(folder, '@strapi/strapi');
  const ports = { docket: port, baseline: port };
  return { name: 'strapi', version, child, target: { ports, key, keyOfRoles: key, facts: options.facts, ids } };
}
