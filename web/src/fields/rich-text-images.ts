/** Images in rich text. The service accepts only handles of images that the record shows now. */

const HANDLE = /^blob:/;

type Node = Record<string, unknown>;

const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isHandle = ({ type, attrs }: Node): boolean =>
  type === 'image' && isObject(attrs) && HANDLE.test(String(attrs['src']));

/** The handles of the images in the values. */
export function imageHandles(values: readonly unknown[]): Set<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (!isObject(node)) return;
    if (isHandle(node)) found.add(String((node['attrs'] as Node)['src']));
    visit(node['content']);
  };
  visit(values);
  return found;
}

/** The document with an empty paragraph in the place of each image whose handle is not known, and the number of these. */
export function withKnownImages(document: unknown, known: ReadonlySet<string>): { document: unknown; removed: number } {
  let removed = 0;
  const kept = (node: unknown): unknown => {
    if (!isObject(node)) return node;
    if (isHandle(node) && !known.has(String((node['attrs'] as Node)['src']))) {
      removed++;
      return { type: 'paragraph' };
    }
    const { content } = node;
    return Array.isArray(content) ? { ...node, content: content.map(kept) } : node;
  };
  return { document: kept(document), removed };
}
