/**
 * Services and the catalogue: what people may ask for, and the requests that come of it.
 *
 * Owns no table: both are configuration (sections `services` and `catalogs`), and a request is a record of the objects room,
 * made by its create command. Invariants: what a person's audience does not admit does not exist for them; a request is judged
 * with the rights of the person for whom it is made, and the history names that person beside the one who made it; only the
 * item's configuration writes what is not in its form.
 */
export { serviceSource } from './queries.ts';
export { catalogRoutes } from './routes.ts';
