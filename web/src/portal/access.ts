/** Which of the console's interfaces the user is in: the portal of requesters or the desk. The service says which may be chosen. */
import { useQuery } from '@tanstack/react-query';
import type { Interface } from '../../../src/contract/rights.ts';
import type { Session } from '../api/types.ts';
import { queryClient } from '../app/query-client.ts';
import { sessionQuery } from '../app/session.ts';
import type { DeskType } from '../desk/queries.ts';

/** Record types with a workflow: the types of requests. */
export function requestTypes(types: readonly DeskType[]): DeskType[] {
  return types.filter((type) => type.category === 'object' && type.states.length > 0);
}

/** The choice of a user with both interfaces, kept on this device. */
function choiceKey({ user }: Session): string {
  return `docket.interface.${user.id}`;
}

function interfaceOf(session: Session): Interface {
  const first = session.interfaces[0] ?? 'portal';
  const chosen = localStorage.getItem(choiceKey(session));
  return session.interfaces.find((one) => one === chosen) ?? first;
}

/** The interface for routes. */
export async function currentInterface(): Promise<Interface | undefined> {
  const session = await queryClient.ensureQueryData(sessionQuery);
  return session === null ? undefined : interfaceOf(session);
}

/** Undefined until the session is loaded. */
export function useInterface(): Interface | undefined {
  const { data: session } = useQuery(sessionQuery);
  return session === null || session === undefined ? undefined : interfaceOf(session);
}

/** The other interface with the function that switches to it; undefined for users of one interface. */
export function useOtherInterface(): { other: Interface; enter: () => void } | undefined {
  const { data: session } = useQuery(sessionQuery);
  if (session === null || session === undefined || session.interfaces.length < 2) return undefined;
  const other = interfaceOf(session) === 'desk' ? 'portal' : 'desk';
  const enter = (): void => {
    localStorage.setItem(choiceKey(session), other);
    window.location.assign('/');
  };
  return { other, enter };
}
