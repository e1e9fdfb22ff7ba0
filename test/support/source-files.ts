/** Source files as the architecture tests look at them: parsed by a real parser, so that no odd spelling hides an import. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

export interface Import {
  specifier: string;
  /** The file it names, from the root of the repository; null for a package. */
  target: string | null;
  /** Gone after the types are stripped. */
  typeOnly: boolean;
}

/** A node of the syntax tree; only what the checks look at. */
export interface Node {
  type: string;
  [member: string]: unknown;
}

export interface Source {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
  imports: Import[];
  program: Node;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** Every node below `node`, itself first, each with its ancestors, nearest first. */
export function* walk(node: Node, above: readonly Node[] = []): Generator<[Node, readonly Node[]]> {
  yield [node, above];
  const inside = [node, ...above];
  for (const value of Object.values(node)) {
    for (const part of Array.isArray(value) ? value : [value]) if (isNode(part)) yield* walk(part, inside);
  }
}

/** `a.b.c` of a member expression, `a` of an identifier, else ''. */
export function dotted(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'ChainExpression') return dotted(node['expression']);
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type !== 'MemberExpression') return '';
  const property = node['property'] as Node;
  const name = node['computed'] === true ? property['value'] : property['name'];
  const object = dotted(node['object']);
  return object === '' || typeof name !== 'string' ? '' : `${object}.${name}`;
}

function importsOf(file: string, program: Node): Import[] {
  const found: Import[] = [];
  const add = (source: unknown, typeOnly: boolean): void => {
    if (!isNode(source)) return;
    // A computed specifier could name anything: it is an import of a file that no rule admits.
    const specifier = typeof source['value'] === 'string' ? source['value'] : '<computed>';
    const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : null;
    found.push({ specifier, target, typeOnly });
  };
  for (const [node] of walk(program)) {
    const typeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type';
    if (node.type === 'ImportDeclaration') add(node['source'], typeOnly);
    else if (node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration')
      add(node['source'], typeOnly);
    else if (node.type === 'ImportExpression') add(node['source'], false);
    else if (node.type === 'TSImportType') add(node['source'], true);
  }
  return found;
}

/** @throws Error when the text is not TypeScript */
export function parseSource(file: string, text: string): Source {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const tree = program as unknown as Node;
  return { path: file, text, imports: importsOf(file, tree), program: tree };
}

/** Names of the files below a folder of the repository that end in one of `endings`. */
export function filesBelow(folder: string, endings: readonly string[] = ['.ts']): string[] {
  const start = path.join(ROOT, folder);
  if (!existsSync(start)) return [];
  return (
    readdirSync(start, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
      .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
      // Packages of a workspace.
      .filter((file) => !file.includes('/node_modules/'))
      .sort()
  );
}

/** Tests and their cases, which stand beside the product. */
export function isTestFile(file: string): boolean {
  return /\.(?:test|cases)\.ts$/.test(file);
}

export function readSources(...folders: string[]): Source[] {
  return folders
    .flatMap((folder) => filesBelow(folder, ['.ts', '.tsx']))
    .map((file) => parseSource(file, readFileSync(path.join(ROOT, file), 'utf8')));
}

/** The files that the repository knows and that are there; empty outside of a clone. */
export function trackedFiles(...folders: string[]): string[] {
  if (!existsSync(path.join(ROOT, '.git'))) return [];
  const listed = execFileSync('git', ['-c', `safe.directory=${ROOT}`, 'ls-files', '-z', ...folders], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\0').filter((file) => file.endsWith('.ts') && existsSync(path.join(ROOT, file)));
}
