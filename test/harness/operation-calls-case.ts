/** One case of the operation table (`operation-calls.ts`): a valid call, and who lacks the right to it. */

/** A field that `partial` may not read, and its value. Neither may appear in a response to `partial`. */
export const HIDDEN_FIELD = 'hushField';
export const HIDDEN_VALUE = 'canary-5e1f';

export interface Call {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
}

export type Login = 'full' | 'partial' | 'reader' | 'nobody';

export interface OperationCase {
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
