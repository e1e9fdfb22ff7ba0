/** Calls of several users, each with a key of their own. */
import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';

/** @returns the answer's `data`; fails if the call was refused */
export type CallAs<Login extends string> = (who: Login, method: string, path: string, body?: unknown) => Promise<any>;

/** @param scopes of the keys; default: those of both APIs */
export async function callsOf<const Login extends string>(
  app: TestApp,
  logins: readonly Login[],
  scopes: (login: Login) => string[] = () => ['all', 'admin:manage'],
): Promise<CallAs<Login>> {
  const keys = new Map<Login, string>();
  for (const login of logins) keys.set(login, (await app.createKey({ login, scopes: scopes(login) })).key);
  return async (who, method, path, body) => {
    const key = keys.get(who) ?? '';
    const answer = await app.request(method, path, { key, ...(body === undefined ? {} : { body }) });
    assert.ok(answer.status < 300, `${who}: ${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
}
