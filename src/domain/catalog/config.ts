/** The bundle's sections `services` and `catalogs` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { closed, Code, described, type Localized, Name, nullable, optional } from '../../contract/schemas.ts';
import { type Audience, AudienceSchema, compileAudience, normaliseAudience } from '../../configuration/audience.ts';
import { checkUnique, compileTree, normaliseTree, type TreeNode, TreeSchema } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { fieldOf } from '../../configuration/record-types.ts';
import {
  CodeOf,
  Description,
  FieldOf,
  ListedField,
  NodeCode,
  SetSchema,
  WasCode,
} from '../../configuration/schemas.ts';
import type { CompileView, ConfigView, Report, SectionReport } from '../../configuration/section.ts';
import { compileSet } from '../../configuration/values.ts';
import { problem } from '../../lib/problem.ts';
import { checkValue, type FieldDefinition, type TypeDefinition } from '../metadata/index.ts';

// ---------------------------------------------------------------- services

const ServiceItem = closed({
  code: Code,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  audience: Type.Optional(AudienceSchema),
});

interface ServiceDefinition {
  code: string;
  name: Localized;
  description?: Localized;
  audience: Audience;
}

export const servicesSection = defineSection<Static<typeof ServiceItem>, ServiceDefinition>({
  key: 'services',
  summary: 'Services that the catalogue and records refer to.',
  schema: ServiceItem,
  normalise: (item) => ({
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    audience: normaliseAudience(item.audience),
  }),
  compile: (service, view, report) => ({
    ...service,
    audience: compileAudience(service.audience, ['audience'], view, report),
  }),
});

// ---------------------------------------------------------------- catalogs: categories, and items that create a record for each request

const ItemItem = closed(
  {
    code: Code,
    was: WasCode,
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    category: described('Code of the category of this catalogue in which the item stands.', NodeCode('categories')),
    service: optional(
      'Code of the service that the item belongs to. Shown only to users in the audience of the service.',
      nullable(CodeOf('services')),
    ),
    type: described('Code of the record type of which each request becomes a record.', CodeOf('types')),
    form: optional(
      'Fields that the requester fills in, in this order. Other fields cannot be sent with a request. Default: none.',
      Type.Array(
        closed({
          code: described('Code of a field of the record type.', ListedField),
          required: optional('If true, the request needs a value here. Default: false.', Type.Boolean()),
        }),
        { maxItems: 200 },
      ),
    ),
    requesterField: optional(
      'Code of a user field into which the requester is written, without a right to write it.',
      FieldOf,
    ),
    assetField: optional(
      'Code of a reference field into which the asset of the request is written. The requester must be able to read the asset.',
      FieldOf,
    ),
    set: optional(
      'Field code to value: what each new record gets besides the form, without a right to write it. Variables such as $me mean the requester.',
      SetSchema,
    ),
    audience: Type.Optional(AudienceSchema),
  },
  { part: 'node', typesAt: 'type' },
);

const CatalogItem = closed({
  code: Code,
  name: Type.Optional(Name),
  active: optional(
    'If true, users see this catalogue; only one can be active at a time. Default: true.',
    Type.Boolean(),
  ),
  categories: optional('Tree of headings under which items stand. Empty ones are not shown.', TreeSchema('categories')),
  items: optional('What users can request; each request becomes a record.', Type.Array(ItemItem, { maxItems: 2000 })),
});

type Item = Static<typeof CatalogItem>;

interface CatalogEntry {
  code: string;
  name: Localized;
  description?: Localized;
  /** Code of the category. */
  category: string;
  service?: string;
  /** Code of the record type of requests. */
  type: string;
  form: { code: string; required: boolean }[];
  requesterField?: string;
  assetField?: string;
  set: Record<string, unknown>;
  audience: Audience;
}

interface CatalogDefinition {
  code: string;
  name: Localized;
  active: boolean;
  categories: TreeNode[];
  items: CatalogEntry[];
}

function normaliseEntry(item: Static<typeof ItemItem>): CatalogEntry {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    category: item.category,
    ...(item.service === undefined || item.service === null ? {} : { service: item.service }),
    type: item.type,
    form: (item.form ?? []).map(({ code, required }) => ({ code, required: required ?? false })),
    ...(item.requesterField === undefined ? {} : { requesterField: item.requesterField }),
    ...(item.assetField === undefined ? {} : { assetField: item.assetField }),
    set: (item.set ?? {}) as Record<string, unknown>,
    audience: normaliseAudience(item.audience),
  };
}

function normalise(item: Item): CatalogDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    active: item.active ?? true,
    categories: normaliseTree(item.categories),
    items: (item.items ?? []).map(normaliseEntry),
  };
}

/** Checks that the fields for the requester and the asset have the right data type. */
function checkSpecial(item: CatalogEntry, type: TypeDefinition, path: (string | number)[], report: Report): void {
  for (const [key, dataType] of [['requesterField', 'user'] as const, ['assetField', 'reference'] as const]) {
    const code = item[key];
    if (code === undefined) continue;
    const field = fieldOf(type, code);
    if (field === undefined) report([...path, key], problem('TYPE_HAS_NO_FIELD', { type: type.code, field: code }));
    else if (field.dataType !== dataType) {
      report([...path, key], problem('FIELD_TYPE_DIFFERS', { code, is: field.dataType, must: dataType }));
    }
  }
}

function compileEntry(item: CatalogEntry, index: number, view: CompileView, report: Report): CatalogEntry {
  const path = ['items', index];
  const audience = compileAudience(item.audience, [...path, 'audience'], view, report);
  checkUnique(item.form, (field) => field.code, [...path, 'form'], 'code', report);
  const type = view.get<TypeDefinition>('types', item.type);
  if (type === undefined) return { ...item, audience };
  for (const [at, { code }] of item.form.entries()) {
    if (fieldOf(type, code) === undefined) {
      report([...path, 'form', at, 'code'], problem('TYPE_HAS_NO_FIELD', { type: type.code, field: code }));
    }
  }
  checkSpecial(item, type, path, report);
  const fields = new Map(type.fields.map((field): [string, FieldDefinition] => [field.code, field]));
  const check = (field: FieldDefinition, value: unknown) => checkValue(field, value, '');
  const set = compileSet(item.set, [...path, 'set'], new Map([[type.code, fields]]), check, { view, report });
  return { ...item, audience, set };
}

/** Adds ids of categories, items, services, users, groups and units. The id of a code never changes. */
function compile(catalog: CatalogDefinition, view: CompileView, report: Report): unknown {
  const categories = compileTree(catalog.categories, `catalogs/${catalog.code}`, 'categories', view, report);
  const categoryIds = new Map(categories.map(({ code, id }) => [code, id]));
  checkUnique(catalog.items, (item) => item.code, ['items'], 'code', report);
  const items = catalog.items.map((item, index) => {
    if (!categoryIds.has(item.category)) {
      report(['items', index, 'category'], problem('NO_SUCH_CATEGORY', { code: item.category }));
    }
    const serviceId =
      item.service === undefined || !view.has('services', item.service) ? null : view.id('services', item.service);
    return {
      id: view.nested(`catalogs/${catalog.code}/items`, item.code),
      ...compileEntry(item, index, view, report),
      categoryId: categoryIds.get(item.category) ?? null,
      serviceId,
    };
  });
  return { ...catalog, categories, items };
}

/** Only one catalogue is active at a time (docs/spec/catalogue-and-knowledge.md#catalogue). */
function checkOneActive(view: ConfigView, report: SectionReport): void {
  const active = [...view.active<CatalogDefinition>('catalogs')].filter(([, catalog]) => catalog.active);
  for (const [code] of active.slice(1)) {
    report(code, ['active'], problem('SECOND_ACTIVE_CATALOGUE', { code: active[0]?.[0] ?? '' }));
  }
}

export const catalogsSection = defineSection<Item, CatalogDefinition>({
  key: 'catalogs',
  summary: 'Catalogues: categories and items that users request. One catalogue is active.',
  schema: CatalogItem,
  normalise,
  compile,
  validateAll: checkOneActive,
});
