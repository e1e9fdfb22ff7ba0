/**
 * The places where configuration depends on values of fields: conditions, what transitions and rules set, templates, mappings.
 * A user who writes there can infer values (docs/spec/configuration.md#conditions-on-hidden-fields). The schemas of the sections say
 * where these places are (`names`), so a new property is one of them as soon as it is annotated. Pure.
 */
import { isFieldList } from '../contract/rule-fields.ts';
import { conditionFor } from '../lib/filter.ts';
import { canonicalJson, isObject } from '../lib/json.ts';
import { isTemplateName, placeholders } from '../lib/template.ts';
import { lookedUpField } from '../lib/transforms.ts';
import type { Codes } from './codes.ts';
import { mapNames } from './names.ts';
import type { NamedPlace } from './naming.ts';

/** A place of an item that depends on the values of a field. */
export interface FieldUse {
  /** `workflows.incident.transitions.resolve.condition`. */
  path: string;
  type: string;
  field: string;
  /** Equal for uses that mean the same; positions in lists do not matter. */
  same: string;
}

/** A name in a place, and what of the place must not change for it to mean the same. */
interface Named {
  /** The record types on which the name is a field, if it is one. */
  types: readonly string[];
  code: string;
  content: unknown;
}

/** The names of fields in a condition, as it applies to one type. */
export function* conditionNames(condition: unknown): Generator<string> {
  if (!isObject(condition)) return;
  const { conditions, field, value } = condition;
  if (Array.isArray(conditions)) for (const part of conditions) yield* conditionNames(part);
  else if (typeof field === 'string') {
    yield field;
    if (isFieldList(field)) yield* [value].flat().filter((one) => typeof one === 'string');
  }
}

/** The placeholders in all texts of a value. */
function templateNames(value: unknown): string[] {
  if (typeof value === 'string') return placeholders(value).filter((name) => name === 'title' || !isTemplateName(name));
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(templateNames) : [];
}

function setNames(set: unknown, types: readonly string[]): Named[] {
  if (!isObject(set)) return [];
  const fields = Object.entries(set).filter(([code]) => !code.startsWith('$'));
  return fields.map(([code, content]) => ({ types, code, content: [code, content] }));
}

function namesIn({ names, value, types, outerTypes, at }: NamedPlace): Named[] {
  const each = (codes: readonly string[], on = types): Named[] =>
    codes.map((code) => ({ types: on, code, content: value }));
  switch (names.kind) {
    case 'condition':
      return types.flatMap((type) => each([...conditionNames(conditionFor(value, type))], [type]));
    case 'set':
      return setNames(value, types);
    case 'filledSet':
      return [...setNames(value, types), ...each(templateNames(value), outerTypes)];
    case 'template':
      return each(templateNames(value));
    case 'own':
    case 'value':
      return each([at.slice(at.lastIndexOf('/') + 1)]);
    case 'field':
      return typeof value === 'string' && names.listed !== true ? each([value]) : [];
    case 'groups':
      return typeof value === 'string' ? each([value]) : [];
    case 'transforms': {
      const found = typeof value === 'string' ? lookedUpField(value) : undefined;
      return found === undefined ? [] : each([found.field], [found.type]);
    }
    case 'item':
    case 'node':
    case 'transition':
      return [];
  }
}

/** The path of a place: elements of lists by their code, else by their index. With `like`, without indexes. */
function pathOf(definition: unknown, path: NamedPlace['path']): { text: string; like: string } {
  const steps: string[] = [];
  const like: string[] = [];
  let at: unknown = definition;
  for (const step of path) {
    const isElement = Array.isArray(at);
    at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
    const code = isElement && isObject(at) && typeof at['code'] === 'string' ? at['code'] : undefined;
    steps.push(code ?? String(step));
    like.push(isElement ? (code ?? '*') : String(step));
  }
  return { text: steps.join('.'), like: like.join('.') };
}

/**
 * The uses of fields in an item.
 *
 * @param codes of the configuration that the definition belongs to
 */
export function fieldUses(
  section: { key: string; schema: unknown },
  item: string,
  definition: unknown,
  codes: Codes,
): FieldUse[] {
  const uses: FieldUse[] = [];
  const start = section.key === item ? section.key : `${section.key}.${item}`;
  const add = (place: NamedPlace): void => {
    const found = namesIn(place);
    if (found.length === 0) return;
    const { text, like } = pathOf(definition, place.path);
    for (const { types, code, content } of found) {
      for (const type of types) {
        for (const field of fieldsNamed(type, code, codes)) {
          const same = canonicalJson([like, place.names.kind, type, field, content]);
          uses.push({ path: text === '' ? start : `${start}.${text}`, type, field, same });
        }
      }
    }
  };
  mapNames(section, item, definition, codes, undefined, add);
  return uses;
}

/** The fields of the type that a name means: none if it is the name of a system field. */
function fieldsNamed(type: string, code: string, codes: Codes): readonly string[] {
  if (codes.at(`types/${type}/fields/${code}`) !== undefined) return [code];
  return code === 'title' ? codes.titlesOf(type) : [];
}

/** The uses that were not there before. */
export function newUses(before: readonly FieldUse[], after: readonly FieldUse[]): FieldUse[] {
  const left = new Map<string, number>();
  for (const { same } of before) left.set(same, (left.get(same) ?? 0) + 1);
  return after.filter(({ same }) => {
    const count = left.get(same) ?? 0;
    left.set(same, count - 1);
    return count <= 0;
  });
}

/** The parts of a role that decide what its holders read. */
export interface ReadingGrants {
  records: readonly {
    type: string;
    where?: unknown;
    actions: readonly string[];
    fields: { read: readonly string[] | '*' };
  }[];
}

/** Whether the roles together let read the field on every record of the type, by grants without a row condition. */
export function alwaysReads(roles: readonly ReadingGrants[], type: string, field: string): boolean {
  const grants = roles
    .flatMap(({ records }) => records)
    .filter((grant) => grant.where === undefined && (grant.type === '*' || grant.type === type));
  return (
    grants.some(({ actions }) => actions.includes('read')) &&
    grants.some(({ fields: { read } }) => read === '*' || read.includes(field))
  );
}
