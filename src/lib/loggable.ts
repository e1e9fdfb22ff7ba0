/**
 * The loggable part of an error: name, code and stack. Database messages can quote values of records and are left out, as are
 * all other properties.
 */
export function loggable(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, severity, constraint, table, routine } = error as Error & Record<string, unknown>;
  const fromDatabase = typeof severity === 'string' && typeof code === 'string';
  const stack = error.stack ?? '';
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(fromDatabase ? { constraint, table, routine } : { message: error.message }),
    stack: fromDatabase ? stack.slice(Math.max(0, stack.indexOf('\n    at '))) : stack,
    ...(error.cause === undefined || depth >= 3 ? {} : { cause: loggable(error.cause, depth + 1) }),
  };
}
