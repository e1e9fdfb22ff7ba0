/** One case of an operation: a valid call, who lacks the right to it, and its largest input. `*.cases.ts` beside the modules have them. */
import type { TestApp } from './app.ts';

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

/** The stored data before the calls with the largest inputs. */
export interface Seeded {
  app: TestApp;
  /** The id of a record with long texts, with comments and a long history. */
  record: string;
  /** A call below `/api/v1` with every right; gives the answer's `data`. */
  send(method: string, path: string, body?: unknown): Promise<any>;
}

/** The largest input is about as large as that of `call`: a few kilobytes. */
export const MINIMAL = 'minimal';

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
  /**
   * The largest legal input, and what it reads, for the event loop test; `MINIMAL` by default. A write whose body can be larger
   * than some kilobytes says it.
   */
  large?: typeof MINIMAL | ((seen: Seeded) => Promise<Large[]> | Large[]);
}

/** The answer to a user without the right. */
export function missing(right: string, login: Login = 'nobody'): OperationCase['lacks'] {
  return { login, status: 403, code: 'RIGHT_MISSING', details: { right } };
}

export const NOT_THERE: OperationCase['lacks'] = { login: 'nobody', status: 404, code: 'NOT_FOUND', details: [] };
export const ALLOWED: OperationCase['lacks'] = { login: 'nobody', status: 200 };

export const PASSWORD = 'correct horse battery staple';
