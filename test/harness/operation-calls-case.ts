/** One case of the operation table (`operation-calls.ts`): a valid call, and who lacks the right to it. */

/** A field that `partial` may not read, and its value. Neither may appear in a response to `partial`. */
export const HIDDEN_FIELD = 'hushField';
export const HIDDEN_VALUE = 'canary-5e1f';

export interface Call {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
}

/** A call and its expected status. */
export interface Large extends Call {
  name: string;
  status: number;
  /** The error code; given if the call is refused. */
  code?: string;
}

export type Login = 'full' | 'partial' | 'reader' | 'nobody';

export interface OperationCase {
  /** A minimal valid call, created for each attempt, so that attempts do not conflict. */
  call(): Call | Promise<Call>;
  /** The user without the right, and the expected response. */
  lacks: { login: Login; status: number; code?: string; details?: unknown };
  /** A call about something hidden from `partial`, and the same about something absent: same response, 404 by default. */
  hidden?: { seen(): Promise<Call>; absent(): Call | Promise<Call>; status?: number };
  /** A call that names a field: hidden and unknown fields get the same message. */
  names?: (code: string) => Promise<Call>;
  /** The code of that error; INVALID_VALUES by default. */
  refusal?: string;
  /** Needs `role.assign`, which `partial` does not hold; what it hides is tested separately. */
  assigns?: true;
  /** Needs no authentication. */
  open?: true;
}
