/** Services and the active catalogue: an immutable derived view of each configuration snapshot. */
import { isActive } from '../../contract/state.ts';
import type { Audience } from '../../configuration/audience.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import type { LocalizedText } from '../metadata/index.ts';

export interface Service {
  id: string;
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  audience: Audience;
  updatedAt: string;
}

export interface Category {
  id: string;
  code: string;
  name: LocalizedText;
  parentId: string | null;
}

export interface CatalogItem {
  id: string;
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  categoryId: string;
  serviceId: string | null;
  /** Code of the record type of requests. */
  type: string;
  form: readonly { code: string; required: boolean }[];
  requesterField?: string;
  assetField?: string;
  /** Field code → stored value, or a variable of the condition language, or null to clear. */
  set: Readonly<Record<string, unknown>>;
  audience: Audience;
}

export interface Catalog {
  id: string;
  code: string;
  name: LocalizedText;
  /** In the order of the configuration. */
  categories: readonly Category[];
  items: ReadonlyMap<string, CatalogItem>;
}

interface CatalogRegistry {
  /** Active services by id, in the order of their codes. */
  services: ReadonlyMap<string, Service>;
  /** The active catalogue; undefined if there is none. */
  catalog: Catalog | undefined;
}

interface CompiledCatalog extends Omit<Catalog, 'items'> {
  active: boolean;
  items: readonly CatalogItem[];
}

const catalogView: DerivedView<CatalogRegistry> = {
  name: 'catalog',
  build: (source: ConfigSource) => {
    const services = new Map<string, Service>();
    let catalog: Catalog | undefined;
    for (const { id, section, code, updatedAt, compiled } of source.items.filter(isActive)) {
      if (section === 'services') services.set(id, { ...(compiled as Service), id, code, updatedAt });
      if (section !== 'catalogs' || !(compiled as CompiledCatalog).active) continue;
      const { name, categories, items } = compiled as CompiledCatalog;
      catalog = { id, code, name, categories, items: new Map(items.map((item) => [item.id, item])) };
    }
    return { services, catalog };
  },
};

export function catalogRegistry(ctx: Pick<ReadContext, 'config'>): CatalogRegistry {
  return ctx.config.get(catalogView);
}
