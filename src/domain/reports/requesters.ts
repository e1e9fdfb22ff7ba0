/** What facts need of a type: its states of the category `done`, and who asked for a record, the user whose wait a first reply ends. */
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { type FieldDefinition, registry, type RecordType } from '../metadata/index.ts';
import type { ObjectRow } from '../objects/index.ts';
import type { TypeFacts } from './store.ts';

/** The field that holds the requester by convention, in types that no catalogue item names another one for. */
const USUAL = 'requester';

interface CompiledCatalog {
  items?: readonly { type: string; requesterField?: string }[];
}

/** Type code → the field that catalogue items fill with the requester. */
const catalogFields: DerivedView<ReadonlyMap<string, string>> = {
  name: 'reports.requesters',
  build: (source: ConfigSource) =>
    new Map(
      source.items
        .filter((item) => item.section === 'catalogs' && isActive(item))
        .flatMap(({ compiled }) => (compiled as CompiledCatalog).items ?? [])
        .flatMap(({ type, requesterField }) => (requesterField === undefined ? [] : [[type, requesterField]])),
    ),
};

/** The field of the type that holds the requester: a single user; null if there is none. */
export function requesterField(ctx: Pick<ReadContext, 'config'>, type: RecordType): FieldDefinition | null {
  const fields = [...type.newest.fields.values()];
  const named = ctx.config.get(catalogFields).get(type.code);
  // The conventional code still counts after the field was renamed.
  const field = fields.find(({ code, storedAs = code }) => (named === undefined ? storedAs === USUAL : code === named));
  return field?.dataType === 'user' && !field.multiple ? field : null;
}

/** The id of the requester: the value of that field, else the creator. Null if the system created the record. */
export function requesterOf(ctx: Pick<ReadContext, 'config'>, row: ObjectRow): string | null {
  const type = registry(ctx).byId.get(row.typeId);
  const field = type === undefined ? null : requesterField(ctx, type);
  const value = field === null ? undefined : row.values[field.code];
  return typeof value === 'string' ? value : row.createdBy;
}

/** Of all types, what computing facts from the history needs. */
export function typeFacts(ctx: Pick<ReadContext, 'config'>): TypeFacts[] {
  return [...registry(ctx).byId.values()].map((type) => {
    const states = [...type.versions.values()].flatMap(({ workflow }) => [...(workflow?.states.values() ?? [])]);
    const done = states.filter(({ category }) => category === 'done');
    const requester = requesterField(ctx, type);
    return {
      type_id: type.id,
      done_ids: [...new Set(done.map(({ id }) => id))],
      done_codes: [...new Set(done.flatMap(({ code, former = [] }) => [code, ...former]))],
      requester: requester === null ? null : (requester.storedAs ?? requester.code),
    };
  });
}
