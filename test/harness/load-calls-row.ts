/** A row of the table of calls (`load-calls.ts`): a call that is valid, and who may not make it. */

export interface Call {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
}

export type Login = 'full' | 'partial' | 'reader' | 'nobody';

export interface Row {
  /** A minimal valid call; made anew for each try, so that tries do not meet. */
  call(): Call | Promise<Call>;
  /** Who lacks the right, and what they get. */
  lacks: { login: Login; status: number; code?: string; details?: unknown };
  /** A call that concerns something hidden from `partial`, and the same on what is absent: alike, 404 unless said. */
  hidden?: { seen(): Promise<Call>; absent(): Call | Promise<Call>; status?: number };
  /** A call that names a field: a hidden and an unknown one get the same words. */
  names?: (code: string) => Promise<Call>;
  /** The code of that refusal; INVALID_VALUES unless said. */
  refusal?: string;
  /** Needs `role.assign`, which `partial` does not hold; what it hides is tested beside it. */
  assigns?: true;
  /** Asks nobody. */
  open?: true;
}
