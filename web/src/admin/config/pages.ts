/** Where the items of a section are edited. */
import type { GlobalRight } from '../../../../src/contract/rights.ts';

/** Section → path of its screen, and the property that its pages are addressed by. */
export const PAGES: Readonly<Record<string, readonly [path: string, by: 'code' | 'id']>> = {
  types: ['types', 'code'],
  workflows: ['workflows', 'code'],
  relationDefinitions: ['relations', 'code'],
  roles: ['roles', 'code'],
  services: ['services', 'code'],
  catalogs: ['catalogs', 'code'],
  calendars: ['calendars', 'code'],
  slaPolicies: ['sla', 'code'],
  knowledgeBases: ['bases', 'code'],
  users: ['people', 'id'],
  groups: ['groups', 'id'],
  orgUnits: ['units', 'id'],
  webhooks: ['webhooks', 'id'],
  integrations: ['integrations', 'id'],
  importDefinitions: ['imports', 'id'],
};

/** Sections that need another right than `config.manage`. */
const RIGHTS: Readonly<Record<string, GlobalRight>> = {
  roles: 'role.assign',
  users: 'user.administer',
  groups: 'user.administer',
  orgUnits: 'user.administer',
};

/** The page for a new item of the section; undefined if the user may not add one. */
export function newItemPage(section: string, has: (right: GlobalRight) => boolean): string | undefined {
  const page = PAGES[section];
  return page !== undefined && has(RIGHTS[section] ?? 'config.manage') ? `/admin/${page[0]}/new` : undefined;
}
