/** Converts thrown errors to the client's answer and to log entries. */
import { FAULTS, type FaultCode, statusOf } from '../lib/fault-codes.ts';
import { Fault, type FaultCause, type FaultDetails } from '../lib/fault.ts';

export interface ErrorAnswer {
  status: number;
  code: string;
  said: Pick<FaultCause, 'message'> & Partial<FaultCause>;
  details: FaultDetails;
  headers: Record<string, string>;
}

/** The client disconnected before its request was complete; no answer is sent. */
export class ClientGone extends Error {}

const RETRY_SECONDS = '1';
/** Maximum number of details in one answer. */
const MAX_DETAILS = 200;

/** Faults are returned as they are. Any other error is reported as INTERNAL, without its message. */
export function answerOf(error: unknown): ErrorAnswer {
  const status = error instanceof Fault ? statusOf(error.code) : undefined;
  if (!(error instanceof Fault) || status === undefined || error.code === 'INTERNAL') {
    return {
      status: 500,
      code: 'INTERNAL',
      said: { message: 'The service failed. Report the correlation id to its operator.' },
      details: [],
      headers: {},
    };
  }
  let headers = error.headers;
  if (status === 503 || status === 429) headers = { 'Retry-After': RETRY_SECONDS, ...headers };
  if (status === 401) headers = { 'WWW-Authenticate': 'Bearer', ...headers };
  const details = Array.isArray(error.details) ? error.details.slice(0, MAX_DETAILS) : error.details;
  return { status, code: error.code, said: error, details, headers };
}

export function fault(code: FaultCode, details: FaultDetails = []): Fault {
  return new Fault(code, { message: FAULTS[code].meaning, reason: code }, details);
}
