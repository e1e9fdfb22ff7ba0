/** Who works in the portal: users who ask for help and have none of the desk's rights. */
import { useQuery } from '@tanstack/react-query';
import type { GlobalRight } from '../../../src/contract/rights.ts';
import type { Session } from '../api/types.ts';
import { sessionQuery } from '../app/session.ts';
import { queryClient } from '../app/query-client.ts';
import { type DeskType, deskTypesQuery } from '../desk/queries.ts';

/** General rights that requesters may hold. Any other right makes a user a member of staff. */
const REQUESTER_RIGHTS: ReadonlySet<string> = new Set<GlobalRight>(['kb.portal', 'catalog.impersonate']);

function holdsStaffRight({ rights }: Pick<Session, 'rights'>): boolean {
  return rights.some((right) => !REQUESTER_RIGHTS.has(right));
}

/** Record types with a workflow: the types of requests. */
export function requestTypes(types: readonly DeskType[]): DeskType[] {
  return types.filter((type) => type.category === 'object' && type.states.length > 0);
}

/**
 * True for users who may change no record directly and hold no staff right. Users who may only read records, such as auditors,
 * need the lists of the desk.
 */
function isRequester(session: Session, types: readonly DeskType[]): boolean {
  if (holdsStaffRight(session)) return false;
  const own = types.filter((type) => type.category === 'object');
  if (own.some((type) => type.canUpdate || type.canArchive)) return false;
  return own.some((type) => type.canCreate) || !own.some((type) => type.canRead) || session.rights.length > 0;
}

/** The same decision for routes. The record types are loaded only for users without a staff right. */
export async function worksInPortal(session: Session): Promise<boolean> {
  return !holdsStaffRight(session) && isRequester(session, await queryClient.ensureQueryData(deskTypesQuery));
}

/** Undefined until the decision is possible. */
export function useIsRequester(): boolean | undefined {
  const { data: session } = useQuery(sessionQuery);
  const { data: types } = useQuery(deskTypesQuery);
  if (session === null || session === undefined) return undefined;
  if (holdsStaffRight(session)) return false;
  return types === undefined ? undefined : isRequester(session, types);
}
