/** The scopes of the specification (docs/spec/access.md#api-keys), and one additional scope (docs/spec/access.md#api-keys). */
export const SCOPES = [
  'metadata:read',
  'objects:read',
  'objects:write',
  'files:read',
  'files:write',
  'comments:read',
  'comments:write',
  'search:read',
  'relations:read',
  'relations:write',
  'sla:read',
  'sla:write',
  'workflow:read',
  'workflow:write',
  'catalog:read',
  'catalog:impersonate',
  'webhooks:manage',
  'integrations:manage',
  'integrations:execute',
  'identity:read',
  'identity:write',
  'kb:read',
  'kb:write',
  'imports:read',
  'imports:write',
  'exports:read',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Gives scripts access to the administration API; never part of `all`. */
export const ADMIN_SCOPE = 'admin:manage';

export function isScope(value: string): value is Scope | typeof ADMIN_SCOPE {
  return value === ADMIN_SCOPE || (SCOPES as readonly string[]).includes(value);
}
