/** Checks and trees that several sections of the configuration share. A tree is a list of categories or sections in an item. */
import Type, { type Static } from 'typebox';
import { isTimeZone } from '../lib/date-format.ts';
import { problem } from '../lib/problem.ts';
import type { CompileView, ItemPath, Report } from './section.ts';
import { closed, Code, type Localized, Name, nullable, optional } from '../contract/schemas.ts';
import { NodeCode, WasCode } from './schemas.ts';

export function checkTimeZone(name: string | undefined, path: ItemPath, report: Report): void {
  if (name !== undefined && !isTimeZone(name)) {
    report(path, problem('UNKNOWN_TIME_ZONE', { zone: name }));
  }
}

/** Reports each element whose key occurred before; `keyOf` returns the key, or undefined where there is none. */
export function checkUnique<T>(
  list: readonly T[],
  keyOf: (one: T) => string | undefined,
  path: ItemPath,
  at: string,
  report: Report,
): void {
  const seen = new Set<string>();
  for (const [index, one] of list.entries()) {
    const key = keyOf(one);
    if (key === undefined) continue;
    if (seen.has(key)) report([...path, index, ...(at === '' ? [] : [at])], problem('DUPLICATE', { key }));
    seen.add(key);
  }
}

/**
 * Finds cycles of the graph: for each node found on a cycle, the names that lead from it back to itself. In densely connected
 * components, some cycle is found, not every one.
 *
 * @param graph node → nodes that it points to; unknown names are ignored
 */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const clear = new Set<string>();
  for (const start of graph.keys()) {
    if (clear.has(start) || found.has(start)) continue;
    const trail: string[] = [];
    const onTrail = new Map<string, number>();
    const stack: { node: string; at: number }[] = [{ node: start, at: 0 }];
    while (stack.length > 0) {
      const top = stack.at(-1) as { node: string; at: number };
      if (top.at === 0) {
        onTrail.set(top.node, trail.length);
        trail.push(top.node);
      }
      const next = (graph.get(top.node) ?? [])[top.at++];
      if (next === undefined) {
        stack.pop();
        trail.pop();
        onTrail.delete(top.node);
        clear.add(top.node);
        continue;
      }
      const ringAt = onTrail.get(next);
      if (ringAt !== undefined) {
        const cycle = trail.slice(ringAt);
        for (const [index, node] of cycle.entries()) {
          if (!found.has(node)) found.set(node, [...cycle.slice(index), ...cycle.slice(0, index), node]);
        }
      } else if (graph.has(next) && !clear.has(next)) stack.push({ node: next, at: 0 });
    }
  }
  return found;
}

/** Reports each list element that is its own ancestor. Unknown parents are ignored. */
export function checkTree(
  list: readonly { code: string; parent?: string | undefined }[],
  path: ItemPath,
  report: Report,
): void {
  const codes = new Set(list.map((one) => one.code));
  const rings = cyclesOf(new Map(list.map(({ code, parent }) => [code, parent === undefined ? [] : [parent]])));
  for (const [index, { code, parent }] of list.entries()) {
    const at = [...path, index, 'parent'];
    if (parent !== undefined && !codes.has(parent)) report(at, problem('NOT_IN_LIST', { code: parent }));
    const cycle = rings.get(code);
    if (cycle !== undefined) report(at, problem('CYCLE', { cycle: cycle.join(' → ') }));
  }
}

/** A list of nodes, in the property `key` of the item; `parent` is the code of another node of the list. */
export function TreeSchema(key: string) {
  return Type.Array(
    closed(
      {
        code: Code,
        was: WasCode,
        name: Type.Optional(Name),
        parent: optional(
          'Code of the entry of this list that contains this one. Absent or null: it is at the top.',
          nullable(NodeCode(key)),
        ),
      },
      { part: 'node' },
    ),
    { maxItems: 1000 },
  );
}

export interface TreeNode {
  code: string;
  name: Localized;
  parent?: string;
}

export interface CompiledNode extends TreeNode {
  /** Null only in a configuration that is refused. */
  id: string | null;
  parentId: string | null;
}

/** The nodes with all defaults filled in. */
export function normaliseTree(nodes: Static<ReturnType<typeof TreeSchema>> = []): TreeNode[] {
  return nodes.map(({ code, name, parent }) => ({
    code,
    name: (name as Localized | undefined) ?? code,
    ...(parent === undefined || parent === null ? {} : { parent }),
  }));
}

/**
 * Reports duplicate codes and cycles, and adds the ids of nodes and parents. The id of a code never changes.
 *
 * @param item path of the item, such as `catalogs/main`
 * @param key property of the item that holds the nodes
 */
export function compileTree(
  nodes: readonly TreeNode[],
  item: string,
  key: string,
  view: CompileView,
  report: Report,
): CompiledNode[] {
  checkUnique(nodes, (node) => node.code, [key], 'code', report);
  checkTree(nodes, [key], report);
  const ids = new Map(nodes.map(({ code }) => [code, view.nested(`${item}/${key}`, code)]));
  return nodes.map((node) => ({
    id: ids.get(node.code) ?? null,
    ...node,
    parentId: node.parent === undefined ? null : (ids.get(node.parent) ?? null),
  }));
}
