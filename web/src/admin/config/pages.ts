/** Where the items of a section are shown, edited and made. */
import type { GlobalRight } from '../../../../src/contract/rights.ts';

interface SectionPage {
  /** The page of an item, below `/admin/`, without its code or id. */
  path: string;
  /** What the page of an item is addressed by; default: the code. */
  by?: 'id';
  /** Where a new item is made; default: `new` below the path. */
  add?: string;
  /** Default: `config.manage`. */
  right?: GlobalRight;
}

export const PAGES = {
  types: { path: 'types' },
  workflows: { path: 'workflows' },
  relationDefinitions: { path: 'relations' },
  roles: { path: 'roles', right: 'role.assign' },
  services: { path: 'services' },
  catalogs: { path: 'catalogs' },
  calendars: { path: 'calendars' },
  slaPolicies: { path: 'sla' },
  macros: { path: 'macros' },
  synonyms: { path: 'synonyms' },
  rules: { path: 'rules' },
  dashboards: { path: 'dashboards' },
  knowledgeBases: { path: 'bases' },
  users: { path: 'people', by: 'id', right: 'user.administer' },
  groups: { path: 'groups', by: 'id', right: 'user.administer' },
  orgUnits: { path: 'units', by: 'id', right: 'user.administer' },
  webhooks: { path: 'webhooks/subscriptions', by: 'id', add: 'webhooks', right: 'webhook.manage' },
  signingSecrets: { path: 'webhooks/secrets', by: 'id', add: 'webhooks/secrets', right: 'webhook.manage' },
  integrations: { path: 'integrations', by: 'id', add: 'integrations', right: 'integration.manage' },
  importDefinitions: { path: 'imports/definitions', by: 'id', add: 'imports/new', right: 'import.manage' },
} as const satisfies Readonly<Record<string, SectionPage>>;

/** A section with a page. */
export type PagedSection = keyof typeof PAGES;

function pageOf(section: string): SectionPage | undefined {
  return Object.hasOwn(PAGES, section) ? PAGES[section as PagedSection] : undefined;
}

/** The page of an item; undefined if its section has none. */
export function itemPage(section: string, item: { id: string; code: string }): string | undefined {
  const page = pageOf(section);
  return page === undefined
    ? undefined
    : `/admin/${page.path}/${encodeURIComponent(page.by === 'id' ? item.id : item.code)}`;
}

/** The page on which a new item of the section is made; undefined if the user may not make one. */
export function newItemPage(section: string, has: (right: GlobalRight) => boolean): string | undefined {
  const page = pageOf(section);
  if (page === undefined || !has(page.right ?? 'config.manage')) return undefined;
  return `/admin/${page.add ?? `${page.path}/new`}`;
}
