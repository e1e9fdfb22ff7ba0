/**
 * Builds the web console into web/dist: `npm run console`, and by itself after `npm ci` and before `npm start` where it is
 * absent. Plain JavaScript, since the Node that runs npm may know no TypeScript. Where the build's own packages are not
 * installed (npm ci --omit=dev), it says so and leaves things as they are.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const web = path.join(root, 'web');
const dist = path.join(web, 'dist');

async function newestSource(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(...times);
}

/** Whether the build is there and no source is newer than it. */
async function isFresh() {
  const page = path.join(dist, 'index.html');
  if (!existsSync(page) || !existsSync(path.join(dist, 'reference'))) return false;
  const folders = ['src', 'public'].map((name) => path.join(web, name)).filter((name) => existsSync(name));
  const newest = await Promise.all(folders.map(newestSource));
  const built = (await stat(page)).mtimeMs;
  return [...newest, (await stat(path.join(web, 'index.html'))).mtimeMs].every((time) => time <= built);
}

/** Compression is made once, here, so that the service spends nothing on it. */
async function compress() {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  await Promise.all(
    entries
      .filter((entry) => entry.isFile() && /\.(?:js|css|svg|webmanifest)$/.test(entry.name))
      .map(async (entry) => {
        const file = path.join(entry.parentPath, entry.name);
        const bytes = await readFile(file);
        if (bytes.length < 1024) return;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
        await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, { params }));
        await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }),
  );
}

/**
 * Writes the script of the API reference (Scalar, with the line that starts it) under a name that contains its hash.
 * `@scalar/fastify-api-reference` contains the whole browser build in one file; `@scalar/api-reference` would install about 250
 * packages (300 MB) for the same file.
 */
async function buildReference() {
  const { default: fastify } = await import('fastify');
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { body, statusCode } = await server.inject('/js/scalar.js');
  await server.close();
  if (statusCode !== 200) throw new Error(`@scalar/fastify-api-reference answers ${statusCode} for its script`);
  const start =
    "Scalar.createApiReference('#reference',JSON.parse(document.getElementById('configuration').textContent));";
  const module = path.dirname(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')));
  const licence = await readFile(path.join(module, '..', 'LICENSE'), 'utf8');
  const script = `/*!\n${licence}*/\n${body}\n${start}\n`;
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12);
  await mkdir(path.join(dist, 'reference'), { recursive: true });
  await writeFile(path.join(dist, 'reference', `reference-${hash}.js`), script);
}

if (process.argv.includes('--if-absent') && existsSync(path.join(dist, 'index.html'))) process.exit(0);
if (process.argv.includes('--if-stale') && (await isFresh())) process.exit(0);

let vite;
try {
  vite = await import('vite');
} catch {
  process.stderr.write('The web console is not built: its packages are not installed (npm ci without --omit=dev).\n');
  process.exit(0);
}
try {
  await vite.build({ configFile: path.join(web, 'vite.config.ts'), root: web, logLevel: 'warn' });
  await buildReference();
  await compress();
} catch (error) {
  // Half a build must not be served.
  await rm(dist, { recursive: true, force: true });
  throw error;
}
