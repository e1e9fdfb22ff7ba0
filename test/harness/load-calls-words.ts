/** The hidden field of the world of calls, and what it holds: neither may be in any answer to somebody who may not read it. */
export const SECRET = 'hushField';
export const CANARY = 'canary-5e1f';
