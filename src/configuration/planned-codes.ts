/** The codes of the stored configuration, and what they become in a change. Pure. */
import type { CurrentCodes, CurrentField, PartsList } from './naming.ts';
import type { PartRename } from './renames.ts';

interface TypeCodes {
  workflows: Set<string>;
  fields: Map<string, CurrentField['dataType']>;
  titles: Set<string>;
}
interface Definition {
  workflow?: string;
  title?: string;
  fields?: readonly { code: string; dataType: CurrentField['dataType'] }[];
  states?: readonly { code: string }[];
  transitions?: readonly { code: string }[];
}

/** The codes of the stored configuration, and what they become. */
export class PlannedCodes implements CurrentCodes {
  readonly #types = new Map<string, TypeCodes>();
  readonly #workflows = new Map<string, Definition>();
  readonly #items = new Map<string, string>();
  readonly #parts = new Map<string, string>();
  /** A part under its new code → its old one. */
  readonly #origins = new Map<string, string>();
  readonly #seen: ((section: string, code: string) => void) | undefined;

  /** @param seen called for each item that is named */
  constructor(seen?: (section: string, code: string) => void) {
    this.#seen = seen;
  }

  /** Adds a stored item. @param versions compiled forms of its versions, oldest first */
  add(section: string, code: string, definition: unknown, versions: readonly unknown[]): void {
    if (section === 'workflows') this.#workflows.set(code, definition as Definition);
    if (section !== 'types') return;
    const type: TypeCodes = { workflows: new Set(), fields: new Map(), titles: new Set() };
    for (const { workflow, title, fields = [] } of [...versions, definition] as Definition[]) {
      if (workflow !== undefined) type.workflows.add(workflow);
      if (title !== undefined) type.titles.add(title);
      for (const field of fields) type.fields.set(field.code, field.dataType);
    }
    this.#types.set(code, type);
  }

  renameItem(section: string, from: string, to: string): void {
    this.#items.set(`${section} ${from}`, to);
  }

  renamePart(section: string, item: string, { path, list, from, to }: PartRename): void {
    this.#parts.set(`${section}/${item}${path}`, to);
    this.#origins.set(`${section}/${item}${list}/${to}`, from);
  }

  origin(section: 'types' | 'workflows', item: string, list: PartsList, code: string): string | undefined {
    const path = typeof list === 'string' ? `/${list}` : `/fields/${list.optionsOf}/options`;
    const from = this.#origins.get(`${section}/${item}${path}/${code}`);
    if (from !== undefined) return from;
    const kept =
      list === 'fields'
        ? this.field(item, code)?.code
        : typeof list === 'string'
          ? this.#kept(item, list, code)
          : undefined;
    return kept === code ? code : undefined;
  }

  #kept(workflow: string, list: 'states' | 'transitions', code: string): string | undefined {
    return list === 'states' ? this.state(workflow, code) : this.transition(workflow, code);
  }

  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#parts.size === 0;
  }

  #part(section: string, item: string, path: string, code: string): string {
    return this.#parts.get(`${section}/${item}${path}/${code}`) ?? code;
  }

  item(section: string, code: string): string {
    this.#seen?.(section, code);
    return this.#items.get(`${section} ${code}`) ?? code;
  }

  typeCode(type: string): string {
    return this.item('types', type);
  }

  types(): readonly string[] {
    return [...this.#types.keys()];
  }

  typesUsing(workflow: string): readonly string[] {
    return [...this.#types].flatMap(([code, type]) => (type.workflows.has(workflow) ? [code] : []));
  }

  /** Codes of the fields that the system field `title` stands for, in any version of the type. */
  titlesOf(type: string): readonly string[] {
    return [...(this.#types.get(type)?.titles ?? [])];
  }

  workflowsOf(type: string): readonly string[] {
    return [...(this.#types.get(type)?.workflows ?? [])];
  }

  field(type: string, code: string): CurrentField | undefined {
    const dataType = this.#types.get(type)?.fields.get(code);
    if (dataType === undefined) return undefined;
    return {
      code: this.#part('types', type, '/fields', code),
      dataType,
      option: (option) => this.#part('types', type, `/fields/${code}/options`, option),
    };
  }

  state(workflow: string, code: string): string | undefined {
    const known = this.#workflows.get(workflow)?.states?.some((state) => state.code === code);
    return known === true ? this.#part('workflows', workflow, '/states', code) : undefined;
  }

  transition(workflow: string, code: string): string | undefined {
    const known = this.#workflows.get(workflow)?.transitions?.some((one) => one.code === code);
    return known === true ? this.#part('workflows', workflow, '/transitions', code) : undefined;
  }

  node(section: string, item: string, part: string, code: string): string {
    return this.#part(section, item, `/${part}`, code);
  }
}
