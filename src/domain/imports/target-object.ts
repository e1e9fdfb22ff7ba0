/** Records as import targets. Uses the commands of the objects API with the current revision. */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findType, type RecordType, registry, valueOfCell } from '../metadata/index.ts';
import {
  archiveObject,
  createObject,
  findVisible,
  listChanges,
  preload,
  requireVisible,
  updateObject,
  type VisibleObject,
  visibleValues,
} from '../objects/index.ts';
import type { ImportDefinition } from './definition.ts';
import type { Standing, Target, Values } from './target.ts';

interface StandingObject extends Standing {
  object: VisibleObject;
}

/** @throws Fault NOT_FOUND if the type does not exist any more */
export function typeOf(ctx: Pick<ReadContext, 'config'>, definition: ImportDefinition): RecordType {
  const type = findType(registry(ctx), definition.targetType ?? '');
  if (type === undefined) throw new Fault('NOT_FOUND', 'The record type of this import is gone.');
  return type;
}

/** All values of a CSV are text. Texts that no transform converted are parsed by the data type of their field. */
function typed(definition: ImportDefinition, fields: VisibleObject['version']['fields'], values: Values): Values {
  if (definition.format !== 'CSV') return values;
  return Object.fromEntries(
    Object.entries(values).map(([code, value]) => {
      const field = fields.get(code);
      if (field === undefined) return [code, value];
      if (typeof value === 'string') return [code, valueOfCell(field, value)];
      if (!field.multiple || !Array.isArray(value)) return [code, value];
      const element = { ...field, multiple: false };
      return [code, value.map((one) => (typeof one === 'string' ? valueOfCell(element, one) : one))];
    }),
  );
}

export function objectTarget(definition: ImportDefinition, type: RecordType): Target {
  const mapped = new Set(definition.mapping.map(({ target }) => target));
  const onlyMapped = (values: Values): Values =>
    Object.fromEntries(Object.entries(values).filter(([code]) => mapped.has(code)));
  const standing = (object: VisibleObject): StandingObject => ({
    id: object.row.id,
    values: onlyMapped(visibleValues(object)),
    object,
  });
  return {
    ordered: false,
    preload,
    require: async (ctx, id) => {
      const object = await requireVisible(ctx, id);
      if (object.type.id !== type.id) {
        throw new Fault('NOT_FOUND', `The external id belongs to a record of another type than ${type.code}.`);
      }
      return standing(object);
    },
    own: async (ctx, id) => {
      const object = await findVisible(ctx, id);
      return object?.type.id === type.id ? standing(object) : undefined;
    },
    create: async (ctx, values) => {
      const given = typed(definition, type.newest.fields, values);
      const created = await createObject(ctx, { typeDefinitionId: type.id, values: given, whole: true });
      return {
        id: created.id,
        revision: created.revision,
        changed: true,
        after: onlyMapped(created.values),
      };
    },
    update: async (ctx, found, values) => {
      const { row, version } = (found as StandingObject).object;
      const changes = typed(definition, version.fields, values);
      const change = { objectId: row.id, expectedRevision: row.revision, changes, whole: true };
      const updated = await updateObject(ctx, change);
      return {
        id: row.id,
        revision: updated.revision,
        changed: updated.revision !== row.revision,
        after: onlyMapped(updated.values),
      };
    },
    archive: async (ctx, id, expected) =>
      (await archiveObject(ctx, { objectId: id, expectedRevision: expected })).revision,
    putBack: async (ctx, { id, made, expected }) => {
      const [event] = await listChanges(ctx, [{ id, revision: made }]);
      const before = Object.entries(event?.changes ?? {}).map(([code, [from]]) => [code, from] as const);
      const changes = Object.fromEntries(before);
      return (await updateObject(ctx, { objectId: id, expectedRevision: expected, changes })).revision;
    },
  };
}
