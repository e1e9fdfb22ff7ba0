/** Trees inside configuration items: categories of a catalogue, sections of a knowledge base. */
import Type, { type Static } from 'typebox';
import { closed, nullable } from '../contract/schemas.ts';
import { checkTree, checkUnique } from './checks.ts';
import { Code, type Localized, Name } from './schemas.ts';
import type { CompileView, Report } from './section.ts';

/** A list of nodes; `parent` is the code of another node of the list. */
export const TreeSchema = Type.Array(
  closed({ code: Code, name: Type.Optional(Name), parent: Type.Optional(nullable(Code)) }),
  { maxItems: 1000 },
);

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
export function normaliseTree(nodes: Static<typeof TreeSchema> = []): TreeNode[] {
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
