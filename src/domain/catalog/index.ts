/**
 * Services and the catalogue: what users can request, and their requests.
 *
 * Owns no table: services and catalogues are configuration (sections `services` and `catalogs`), and a request is a record that
 * the create command of the objects module makes. Invariants: an item is hidden from users whom its audience does not admit. A
 * request is checked with the rights of the requester, and the history names the requester and the actor. Fields that are not
 * in the item's form are written only by the item's configuration.
 */
export { serviceSource } from './queries.ts';
