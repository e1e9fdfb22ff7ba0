/** Reads of services and the catalogue. Services and items whose audience does not admit the caller count as missing. */
import { DEFAULT_REQUEST_LOCALE } from '../../contract/schemas.ts';
import { Fault } from '../../lib/fault.ts';
import { isAdmitted } from '../../configuration/audience.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf } from '../../platform/unit-of-work/unit-context.ts';
import { fieldSchema, findType, localized, type LocalizedText, type RecordType, registry } from '../metadata/index.ts';
import { creationData, findVisible, readableTitle } from '../objects/index.ts';
import { type Catalog, type CatalogItem, catalogRegistry, type Category, type Service } from './registry.ts';

/** Reads a text in the requested locale, else in the default locale, else the first one. */
function translator(ctx: ReadContext, asked: string | undefined): (text: LocalizedText) => string {
  const { defaultLocale } = registry(ctx).settings;
  return (text) => localized(text, asked ?? DEFAULT_REQUEST_LOCALE, defaultLocale);
}

interface ServiceAnswer {
  id: string;
  code: string;
  name: string;
  description: string | null;
}

function serviceAnswer(service: Service, text: (text: LocalizedText) => string): ServiceAnswer {
  const { id, code, name, description } = service;
  return { id, code, name: text(name), description: description === undefined ? null : text(description) };
}

/** Lists the services whose audience admits the caller, by name. */
export async function listServices(ctx: ReadContext, locale: string | undefined): Promise<ServiceAnswer[]> {
  const services = [...catalogRegistry(ctx).services.values()];
  const text = translator(ctx, locale);
  const order = new Intl.Collator(registry(ctx).settings.defaultLocale);
  return services
    .filter((service) => isAdmitted(service.audience, ctx.actor))
    .map((service) => serviceAnswer(service, text))
    .sort((a, b) => order.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
}

/** A service for search: names and descriptions in all locales. */
interface ListedService {
  id: string;
  title: string;
  texts: readonly string[];
  updatedAt: string;
}

/** The services that search covers: those whose audience admits the caller. */
export const serviceSource = {
  services: async (ctx: ReadContext): Promise<ListedService[]> => {
    const text = translator(ctx, registry(ctx).settings.defaultLocale);
    const every = (of: LocalizedText): string[] => (typeof of === 'string' ? [of] : Object.values(of));
    return [...catalogRegistry(ctx).services.values()]
      .filter((service) => isAdmitted(service.audience, ctx.actor))
      .map(({ id, code, name, description = '', updatedAt }) => ({
        id,
        title: text(name),
        texts: [code, ...every(name), ...every(description)].filter((one) => one !== ''),
        updatedAt,
      }));
  },
};

/** @throws Fault NOT_FOUND if the service is missing, archived or not available to the caller; the error is the same */
export async function getService(ctx: ReadContext, id: string, locale: string | undefined): Promise<ServiceAnswer> {
  const service = catalogRegistry(ctx).services.get(id);
  if (service === undefined || !isAdmitted(service.audience, ctx.actor)) {
    throw new Fault('NOT_FOUND', 'There is no such service, or it is not available to you.');
  }
  return serviceAnswer(service, translator(ctx, locale));
}

/** The item with the type of its records; undefined if it is missing or not available to the user. */
export function findAvailable(
  ctx: ReadContext,
  itemId: string,
  user: Actor,
): { item: CatalogItem; type: RecordType } | undefined {
  const item = catalogRegistry(ctx).catalog?.items.get(itemId);
  if (item === undefined || !isAdmitted(item.audience, user)) return undefined;
  const type = findType(registry(ctx), item.type);
  return type?.active === true ? { item, type } : undefined;
}

function itemAnswer(
  ctx: ReadContext,
  { item, type }: { item: CatalogItem; type: RecordType },
  locale: string,
  text: (text: LocalizedText) => string,
): object {
  const { id, code, name, description, categoryId, serviceId, form } = item;
  const service = serviceId === null ? undefined : catalogRegistry(ctx).services.get(serviceId);
  return {
    id,
    code,
    name: text(name),
    description: description === undefined ? null : text(description),
    categoryId,
    // The id of a service that is not available to the caller stays hidden here, too.
    serviceId: service !== undefined && isAdmitted(service.audience, ctx.actor) ? service.id : null,
    fields: form.flatMap((part): object | [] => {
      const field = type.newest.fields.get(part.code);
      if (field === undefined || !ctx.actor.fieldAccess(type.id).canRead(field.code)) return [];
      const schema = fieldSchema(ctx, field, locale);
      const required = (part.required && field.default === undefined) || schema.required;
      return {
        ...schema,
        required,
        ...(ctx.actor.fieldAccess(type.id).canWrite(field.code) ? {} : { readOnly: true }),
      };
    }),
    assetTypes: assetTypes(ctx, item, type),
  };
}

/** Codes of the types of possible assets, as far as the caller may read them. */
function assetTypes(ctx: ReadContext, item: CatalogItem, type: RecordType): string[] | null {
  const field = item.assetField === undefined ? undefined : type.newest.fields.get(item.assetField);
  if (field === undefined || !ctx.actor.fieldAccess(type.id).canRead(field.code)) return null;
  const { types } = field.constraints as { types?: string[] };
  return [...registry(ctx).byCode.values()]
    .filter((one) => (types === undefined || types.includes(one.code)) && ctx.actor.mayEver(one.id, 'read'))
    .map(({ code }) => code);
}

/** The active catalogue, limited to what is available to the caller; null if none is active. */
export async function getCatalog(ctx: ReadContext, asked: string | undefined): Promise<object | null> {
  const catalog: Catalog | undefined = catalogRegistry(ctx).catalog;
  if (catalog === undefined) return null;
  const text = translator(ctx, asked);
  const available = [...catalog.items.keys()].flatMap((id) => findAvailable(ctx, id, ctx.actor) ?? []);
  const filled = filledCategories(
    catalog.categories,
    available.map(({ item }) => item.categoryId),
  );
  return {
    id: catalog.id,
    code: catalog.code,
    name: text(catalog.name),
    categories: filled.map(({ id, code, name, parentId }) => ({ id, code, name: text(name), parentId })),
    items: available.map((one) => itemAnswer(ctx, one, asked ?? DEFAULT_REQUEST_LOCALE, text)),
  };
}

/**
 * Returns a stored answer of a request. The title is included only if the requester may still see it, as in the first answer.
 */
export async function replayRequest(
  ctx: ReadContext,
  data: unknown,
  actorOf: (userId: string) => Promise<Actor | undefined>,
): Promise<unknown> {
  const stored = data as { id: string; title: string | null };
  const { onBehalfOf } = (await creationData(ctx, stored.id)) as { onBehalfOf?: { id: string } };
  const requester = onBehalfOf === undefined ? undefined : await actorOf(onBehalfOf.id);
  const object = requester === undefined ? undefined : await findVisible(contextOnBehalfOf(ctx, requester), stored.id);
  return { ...stored, title: object === undefined || readableTitle(object) === null ? null : stored.title };
}

/** The categories that contain an item, directly or in a subcategory, in the given order. */
export function filledCategories(categories: readonly Category[], itemCategories: readonly string[]): Category[] {
  const parents = new Map(categories.map(({ id, parentId }) => [id, parentId]));
  const filled = new Set<string>();
  for (const id of itemCategories) {
    for (let at: string | null = id; at !== null && !filled.has(at); at = parents.get(at) ?? null) filled.add(at);
  }
  return categories.filter(({ id }) => filled.has(id));
}
