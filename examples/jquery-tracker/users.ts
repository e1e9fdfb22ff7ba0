/** The users of the tracker: one login each, unique in the service's normal form. */

export interface Person {
  /** The handle in the tracker, exactly as written. */
  handle: string;
  login: string;
}

export interface People {
  /** By handle. */
  byHandle: Map<string, Person>;
  /** Handles that equal an earlier one but for case or form, with the login that they got. */
  alike: Person[];
  /** Handles that cannot be a login as they are, with the login that they got. */
  reshaped: Person[];
}

/** Two logins with one key are one login to the service: NFKC, then full case folding. */
export function loginKey(login: string): string {
  return login.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}

const UNFIT = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+/gu;

/** The handle as it can be a login: no spaces, no controls, nothing invisible. */
function fitting(handle: string): string {
  const fit = handle.normalize('NFKC').replace(UNFIT, '-').slice(0, 100);
  return fit === '' ? 'nobody' : fit;
}

/**
 * Assigns a login to every handle. The first handle keeps the plain form, later ones get `-2`, `-3` and so on.
 *
 * @param handles in order of precedence; repeated ones count once
 * @param taken logins of other users
 */
export function assignLogins(handles: Iterable<string>, taken: readonly string[] = []): People {
  const people: People = { byHandle: new Map(), alike: [], reshaped: [] };
  const all = new Set(handles);
  const used = new Set(taken.map(loginKey));
  // A generated login must not take one that belongs to a later handle.
  const plain = new Set([...all].map(loginKey));
  for (const handle of all) {
    const base = fitting(handle);
    let login = base;
    for (let next = 2; used.has(loginKey(login)) || (login !== base && plain.has(loginKey(login))); next++) {
      login = `${base}-${next}`;
    }
    used.add(loginKey(login));
    const person = { handle, login };
    people.byHandle.set(handle, person);
    if (base !== handle) people.reshaped.push(person);
    else if (login !== base) people.alike.push(person);
  }
  return people;
}
