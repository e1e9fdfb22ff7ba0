/** The reads on services and the catalogue: what the caller's audience does not admit is not there. */
import { Fault } from '../../lib/fault.ts';
import { isAdmitted } from '../../mechanisms/config-audience.ts';
import type { Actor, ReadContext } from '../../mechanisms/context.ts';
import { seenBy } from '../../mechanisms/on-behalf.ts';
import { fieldSchema, findType, type LocalizedText, localized, type RecordType, registry } from '../metadata/door.ts';
import { creationData, findVisible, visibleTitle } from '../objects/door.ts';
import { type Catalog, type CatalogItem, catalogRegistry, type Service } from './registry.ts';
import { filledCategories } from './rules.ts';

/** api.md, convention 9. */
const STANDARD_LOCALE = 'ru-RU';

/** The text in the locale asked, else in the default locale, else the first there is. */
function reader(ctx: ReadContext, asked: string | undefined): (text: LocalizedText) => string {
  const { defaultLocale } = registry(ctx).settings;
  return (text) => localized(text, asked ?? STANDARD_LOCALE, defaultLocale);
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

/** Services whose audience admits the caller, by name. */
export async function listServices(ctx: ReadContext, locale: string | undefined): Promise<ServiceAnswer[]> {
  const services = [...catalogRegistry(ctx).services.values()];
  const text = reader(ctx, locale);
  const order = new Intl.Collator(registry(ctx).settings.defaultLocale);
  return services
    .filter((service) => isAdmitted(service.audience, ctx.actor))
    .map((service) => serviceAnswer(service, text))
    .sort((a, b) => order.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
}

/** A service as search looks through it: names and descriptions in every locale. */
export interface ListedService {
  id: string;
  title: string;
  texts: readonly string[];
  updatedAt: string;
}

/** What search is handed of services: those whose audience admits the caller. */
export const serviceSource = {
  services: async (ctx: ReadContext): Promise<ListedService[]> => {
    const text = reader(ctx, registry(ctx).settings.defaultLocale);
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

/** @throws Fault NOT_FOUND when the service is absent, archived or not for the caller, alike */
export async function getService(ctx: ReadContext, id: string, locale: string | undefined): Promise<ServiceAnswer> {
  const service = catalogRegistry(ctx).services.get(id);
  if (service === undefined || !isAdmitted(service.audience, ctx.actor)) {
    throw new Fault('NOT_FOUND', 'There is no such service, or it is not available to you.');
  }
  return serviceAnswer(service, reader(ctx, locale));
}

/** The item with the type of which it makes records; undefined when it is absent or not for the person, alike. */
export function findAvailable(
  ctx: ReadContext,
  itemId: string,
  person: Actor,
): { item: CatalogItem; type: RecordType } | undefined {
  const item = catalogRegistry(ctx).catalog?.items.get(itemId);
  if (item === undefined || !isAdmitted(item.audience, person)) return undefined;
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
    // A service that is not for the caller is not revealed by what it stands on either.
    serviceId: service !== undefined && isAdmitted(service.audience, ctx.actor) ? service.id : null,
    fields: form.flatMap((part): object | [] => {
      const field = type.newest.fields.get(part.code);
      if (field === undefined || !ctx.actor.mayEverRead(type.id, field.code)) return [];
      const schema = fieldSchema(ctx, field, locale);
      const required = (part.required && field.default === undefined) || schema.required;
      return { ...schema, required, ...(ctx.actor.mayEverWrite(type.id, field.code) ? {} : { readOnly: true }) };
    }),
    assetTypes: assetTypes(ctx, item, type),
  };
}

/** What an asset may be, as far as the caller may know of it. */
function assetTypes(ctx: ReadContext, item: CatalogItem, type: RecordType): string[] | null {
  const field = item.assetField === undefined ? undefined : type.newest.fields.get(item.assetField);
  if (field === undefined || !ctx.actor.mayEverRead(type.id, field.code)) return null;
  const { types } = field.constraints as { types?: string[] };
  return [...registry(ctx).byCode.values()]
    .filter((one) => (types === undefined || types.includes(one.code)) && ctx.actor.mayEver(one.id, 'read'))
    .map(({ code }) => code);
}

/** The active catalogue as far as it is for the caller; null when none is active. */
export async function getCatalog(ctx: ReadContext, asked: string | undefined): Promise<object | null> {
  const catalog: Catalog | undefined = catalogRegistry(ctx).catalog;
  if (catalog === undefined) return null;
  const text = reader(ctx, asked);
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
    items: available.map((one) => itemAnswer(ctx, one, asked ?? STANDARD_LOCALE, text)),
  };
}

/**
 * A kept answer of a request: the title is given again while the person for whom the request was made may still see it, as in
 * the first answer.
 */
export async function replayRequest(
  ctx: ReadContext,
  data: unknown,
  actorOf: (userId: string) => Promise<Actor | undefined>,
): Promise<unknown> {
  const kept = data as { id: string; title: string | null };
  const { onBehalfOf } = (await creationData(ctx, kept.id)) as { onBehalfOf?: { id: string } };
  const person = onBehalfOf === undefined ? undefined : await actorOf(onBehalfOf.id);
  const object = person === undefined ? undefined : await findVisible(seenBy(ctx, person), kept.id);
  return { ...kept, title: object === undefined || visibleTitle(object) === null ? null : kept.title };
}
