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

const DEFAULTS = {
  identity: false,
  codeProperty: 'code',
  rights: () => [],
  validateAll: () => undefined,
  verify: async () => undefined,
  notes: () => [],
  lockRecords: async () => undefined,
  countRecords: async () => [],
  compare: () => ({ compatible: true, notes: [] }),
  lock: async () => undefined,
  write: planItem,
  keyOf: (code: string) => code,
  toBundleItem: (definition: unknown) => definition,
} as const;

/**
 * The section with all defaults. Its items are stored in the table of configuration items unless the module declares `load`
 * and `write`.
 */
export function defineSection<Item, Definition>(parts: SectionParts<Item, Definition>): ConfigSection {
  const { key, shape = 'list', schema, codeProperty = DEFAULTS.codeProperty } = parts;
  // Users, groups and units get new names through their own endpoints.
  const renamable = shape === 'list' && parts.identity !== true;
  return {
    load: async (ctx) => await loadItems(ctx, key),
    ...DEFAULTS,
    ...parts,
    shape,
    schema: renamable ? withItemWas(schema) : schema,
    right: parts.right,
    renamable,
    hasParts: hasParts(schema),
    versioned: parts.compare !== undefined,
    codeOf: (item) => {
      if (shape === 'map') return key;
      if (shape === 'plain') return parts.codeOf?.(item as Item) ?? (item as string);
      return (item as Record<string, unknown>)[codeProperty] as string;
    },
    nameOf: (definition, code) => {
      const { name, displayName } = definition as { name?: unknown; displayName?: unknown };
      return parts.nameOf?.(definition as Definition) ?? name ?? displayName ?? code;
    },
    merge: (item, stored, options) =>
      withWas(
        schema,
        item,
        parts.merge?.(item as Item, stored as Definition | undefined, options) ?? parts.normalise(item as Item),
      ),
    compile: (definition, view, report) => {
      const plain = renamable ? withoutWas(schema, definition) : definition;
      return parts.compile === undefined ? plain : parts.compile(plain as Definition, view, report);
    },
  };
}
