/**
 * The desk: what the console needs beside the public operations, so that it offers only what the service would allow, shows
 * names for ids, and keeps people's queues.
 *
 * Own table: `desk_queues`. Invariants: a queue of one's own is seen by nobody else; a shared one is changed with the right
 * config.manage alone, and is there only for those who may read every type and field that it names. Nothing here grants
 * anything: rights are judged anew wherever something is done.
 */
export { deskRoutes } from './routes.ts';
