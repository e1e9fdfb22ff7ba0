/** The service of the demo: `docket serve` with settings of its own. */
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const DOCKET = path.join(import.meta.dirname, '..', 'bin', 'docket.mjs');
const PORT = 8090;

type Settings = Record<string, string | undefined>;

export interface DemoService {
  url: string;
  settings: Settings;
  /** Its exit code. */
  ended: Promise<number>;
  stop(): void;
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The environment without the settings of another Docket on this machine. */
function settingsFor(folder: string, port: string): Settings {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:DOCKET|DATABASE|OTEL)_/.test(name));
  return { ...Object.fromEntries(inherited), DOCKET_DATA_DIR: folder, DOCKET_HOST: '127.0.0.1', DOCKET_PORT: port };
}

/** Starts the service and waits until it answers. A stop signal of this process stops it. @throws Error if it ends first */
export async function startService(demo: { folder: string; port: string | undefined }): Promise<DemoService> {
  const port = demo.port ?? ((await isFree(PORT)) ? String(PORT) : '0');
  const settings = settingsFor(demo.folder, port);
  // A group of its own: Ctrl-C reaches this process alone, which stops the service once.
  const child = spawn(process.execPath, [DOCKET, 'serve'], {
    env: settings,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // Its log is shown only if it ends by itself.
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-5000)));
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stopping) child.kill('SIGTERM');
      stopping = true;
    });
  }
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(stopping ? 0 : (code ?? 1))));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, address] = /^Docket answers at (\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
      else log += `${line}\n`;
    });
    void ended.then(() => reject(new Error(stopping ? 'stopped.' : `the service did not start.\n${log}`)));
  });
  return { url, settings, ended, stop: () => child.kill('SIGTERM') };
}

/** An API key of the administrator of the starter configuration. */
export async function firstKey(settings: Settings): Promise<string> {
  const args = ['keys', 'create', '--owner', 'admin', '--name', 'demo', '--scopes', 'all,admin:manage', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [DOCKET, ...args], { env: settings });
  return (JSON.parse(stdout) as { key: string }).key;
}
