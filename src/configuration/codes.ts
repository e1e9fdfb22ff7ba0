/**
 * The names of items, and of their fields, options, states, transitions and other parts, with the codes that they have now or get
 * in a change. A name is a path, such as `types/incident/fields/impact/options/high`; its list is the path without the last code.
 * Pure.
 */
import type { DataType, Renamed } from '../lib/data-types/index.ts';
import { isObject } from '../lib/json.ts';

interface Named {
  code: string;
  /** Of a field. */
  dataType?: DataType;
}
interface TypeNames {
  name: string;
  workflows: Set<string>;
  titles: Set<string>;
}

/** The lists of parts in a definition or a compiled form, by their property. */
function* partLists(form: object): Generator<[name: string, parts: (Named & Renamed)[]]> {
  for (const [name, member] of Object.entries(form)) {
    if (Array.isArray(member)) yield [name, member.filter((one) => isObject(one) && typeof one['code'] === 'string')];
    else if (isObject(member)) yield* partLists(member);
  }
}

export class Codes {
  readonly #named = new Map<string, Named>();
  readonly #origins = new Map<string, string>();
  readonly #types = new Map<string, TypeNames>();
  readonly #takesFormer: boolean;
  readonly #seen: ((section: string, code: string) => void) | undefined;
  /** Whether no name has another code. */
  isEmpty = true;

  /** @param options with `former`, former codes are names, too; `seen` is called for each item that is looked up */
  constructor({ former = false, seen }: { former?: boolean; seen?: (section: string, code: string) => void } = {}) {
    this.#takesFormer = former;
    this.#seen = seen;
  }

  /**
   * Adds an item, with its parts if others can name them.
   *
   * @param forms its definitions or compiled forms, oldest first
   * @param id another name of a record type
   */
  add(
    section: string,
    code: string,
    forms: readonly unknown[],
    { former = [], id = code }: { former?: readonly string[]; id?: string } = {},
  ): void {
    for (const name of former) this.rename(section, name, code);
    if (section !== 'types' && section !== 'workflows') return;
    const type: TypeNames = { name: code, workflows: new Set(), titles: new Set() };
    for (const form of forms.filter(isObject)) {
      this.addParts([`${section}/${code}`], form);
      if (typeof form['workflow'] === 'string') type.workflows.add(form['workflow']);
      if (typeof form['title'] === 'string') type.titles.add(form['title']);
    }
    if (section === 'types') for (const name of [id, ...former, code]) this.#types.set(name, type);
  }

  /** Adds the parts of what has the paths. A code that a part has now means that part. */
  addParts(paths: readonly string[], form: object): void {
    for (const [list, parts] of partLists(form)) {
      for (const part of parts) {
        const at = (name: string): string[] => paths.map((path) => `${path}/${list}/${name}`);
        const former = this.#takesFormer ? (part.former ?? []) : [];
        if (former.length > 0) this.isEmpty = false;
        for (const path of former.flatMap(at)) if (!this.#named.has(path)) this.#named.set(path, part);
        for (const path of at(part.code)) this.#named.set(path, part);
        this.addParts([part.code, ...former].flatMap(at), part);
      }
    }
  }

  rename(list: string, from: string, to: string): void {
    const path = `${list}/${from}`;
    this.#named.set(path, { ...this.#named.get(path), code: to });
    this.#origins.set(`${list}/${to}`, from);
    this.isEmpty = false;
  }

  /** The field, option, state or transition with this path; undefined if there is none. */
  at(path: string): Readonly<Named> | undefined {
    return this.#named.get(path);
  }

  code(list: string, code: string): string {
    return this.#named.get(`${list}/${code}`)?.code ?? code;
  }

  item(section: string, code: string): string {
    this.#seen?.(section, code);
    return this.code(section, code);
  }

  /** The path with the code that each step has now. */
  path(path: string): string {
    const steps = path.split('/');
    const now = steps.map((step, index) => (index % 2 === 0 ? step : this.code(steps.slice(0, index).join('/'), step)));
    return now.join('/');
  }

  /**
   * The code before the change of the part that has the code after it; undefined if none has it. With former codes, nothing
   * changes at once.
   */
  origin(list: string, code: string): string | undefined {
    if (this.#takesFormer) return undefined;
    const from = this.#origins.get(`${list}/${code}`) ?? code;
    return this.at(`${list}/${from}`)?.code === code ? from : undefined;
  }

  /** Names of all record types: their codes, before the change if one is planned. */
  types(): readonly string[] {
    return [...new Set([...this.#types.values()].map(({ name }) => name))];
  }

  /** The name of a record type in paths. */
  typeName(type: string): string {
    return this.#types.get(type)?.name ?? type;
  }

  /** Types that use the workflow in any of their versions. */
  typesUsing(workflow: string): readonly string[] {
    return this.types().filter((type) => this.#types.get(type)?.workflows.has(workflow));
  }

  workflowsOf(type: string): readonly string[] {
    return [...(this.#types.get(type)?.workflows ?? [])];
  }

  /** Codes of the fields that the system field `title` stands for, in any version of the type. */
  titlesOf(type: string): readonly string[] {
    return [...(this.#types.get(type)?.titles ?? [])];
  }
}
