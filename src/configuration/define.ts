/** Fills in the defaults of a section that a module declares. */
import type { ConfigSection, SectionParts } from './section.ts';
import { loadItems, planItem } from './store.ts';
import type { TSchema } from 'typebox';
import { hasParts, withoutWas, withWas } from './renames.ts';
import { WasCode } from './schemas.ts';

/** The schema of an item with `was` after its code. */
function withItemWas(schema: TSchema): TSchema {
  const { code, ...others } = (schema as { properties?: Record<string, TSchema> }).properties ?? {};
  return { ...schema, properties: { code, was: WasCode, ...others } } as TSchema;
}

/**
 * The section with all defaults. Its items are stored in the table of configuration items unless the module declares `load`
 * and `write`.
 */
export function defineSection<Item, Definition>(parts: SectionParts<Item, Definition>): ConfigSection {
  const { key } = parts;
  const shape = parts.shape ?? 'list';
  const codeProperty = parts.codeProperty ?? 'code';
  // Users, groups and units get new names through their own endpoints.
  const renamable = shape === 'list' && parts.identity !== true;
  return {
    key,
    summary: parts.summary,
    shape,
    schema: renamable ? withItemWas(parts.schema) : parts.schema,
    identity: parts.identity ?? false,
    renamable,
    hasParts: hasParts(parts.schema),
    versioned: parts.compare !== undefined,
    codeProperty,
    right: parts.right,
    codeOf: (item) => {
      if (shape === 'map') return key;
      if (shape === 'plain') return parts.codeOf?.(item as Item) ?? (item as string);
      return (item as Record<string, unknown>)[codeProperty] as string;
    },
    nameOf: (definition, code) => {
      const { name, displayName } = definition as { name?: unknown; displayName?: unknown };
      return parts.nameOf?.(definition as Definition) ?? name ?? displayName ?? code;
    },
    keyOf: (code) => parts.keyOf?.(code) ?? code,
    rights: (change, view, actorId) => parts.rights?.(change, view, actorId) ?? [],
    merge: (item, stored, options) =>
      withWas(
        parts.schema,
        item,
        parts.merge?.(item as Item, stored as Definition | undefined, options) ?? parts.normalise(item as Item),
      ),
    compile: (definition, view, report) => {
      const plain = renamable ? withoutWas(parts.schema, definition) : definition;
      return parts.compile === undefined ? plain : parts.compile(plain as Definition, view, report);
    },
    validateAll: (view, report) => parts.validateAll?.(view, report),
    verify: async (ctx, changes, view, report) => await parts.verify?.(ctx, changes, view, report),
    notes: async (change, view, yielder) => (await parts.notes?.(change, view, yielder)) ?? [],
    lockRecords: async (ctx) => {
      await parts.lockRecords?.(ctx);
    },
    countRecords: async (ctx, change, gone, view) => (await parts.countRecords?.(ctx, change, gone, view)) ?? [],
    compare: (before, after) => parts.compare?.(before, after) ?? { compatible: true, notes: [] },
    lock: async (ctx) => {
      await parts.lock?.(ctx);
    },
    load: (ctx) => parts.load?.(ctx) ?? loadItems(ctx, key),
    write: (ctx, change, view) => {
      if (parts.write === undefined) planItem(ctx, change);
      else parts.write(ctx, change, view);
    },
    toBundleItem: (definition, options) =>
      parts.toBundleItem === undefined ? definition : parts.toBundleItem(definition as Definition, options),
  };
}
