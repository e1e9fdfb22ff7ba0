/** Signing in through a real OpenID Connect provider (the npm package oidc-provider). */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Provider from 'oidc-provider';
import { startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;
let server: Server;
let issuer: string;

/** The claims of the users who sign in at the provider. */
const PEOPLE: Readonly<Record<string, { email: string; verified: boolean }>> = {
  anna: { email: 'Petrova@example.org', verified: true },
  liar: { email: 'petrova@example.org', verified: false },
  stranger: { email: 'stranger@example.org', verified: true },
};

describe('sign-in through a provider', () => {
  before(async () => {
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    desk = await startConsole({ oidc: { issuer, clientId: 'docket', clientSecret: 'a secret of the tests' } });
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: 'docket',
          client_secret: 'a secret of the tests',
          redirect_uris: [`${desk.url}/api/admin/v1/session/oidc/callback`],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      pkce: { required: () => true },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: async () => ({ sub: id, email: PEOPLE[id]?.email, email_verified: PEOPLE[id]?.verified }),
      }),
    });
    server.on('request', provider.callback());
  });
  after(async () => {
    await desk.close();
    server.closeAllConnections();
    server.close();
  });

  /** Signs in there as that user and returns. Yields the resulting path. */
  async function through(name: string, to = '/sign-in'): Promise<{ path: string; close(): Promise<void> }> {
    const { page, close } = await desk.open(null, to);
    await page.getByRole('link', { name: `Войти через ${new URL(issuer).host}` }).click();
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('whatever');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL((url) => url.origin === desk.url && !url.pathname.startsWith('/api/'));
    await page.waitForLoadState('networkidle');
    const { pathname, search } = new URL(page.url());
    return { path: pathname + search, close };
  }

  it('matches a user by the verified address and returns to the requested page', async () => {
    const { path, close } = await through('anna', '/records?type=problem');
    assert.equal(path, '/records?type=problem');
    await close();
    const { rows } = await desk.call('GET', '/audit?type=SignedIn');
    assert.equal(rows[0].subject, `user:${desk.seeded.people['petrova']}`);
    assert.equal(rows[0].data.by, 'oidc');
  });

  it('rejects users who are unverified, unknown or archived', async () => {
    for (const name of ['liar', 'stranger']) {
      const { path, close } = await through(name);
      assert.match(path, /^\/sign-in\?refused=/, name);
      await close();
    }
    const petrova = desk.seeded.people['petrova'];
    await desk.call('POST', `/identity/users/${petrova}/archive`);
    const { path, close } = await through('anna');
    assert.match(path, /^\/sign-in\?refused=/);
    await close();
    await desk.call('POST', `/identity/users/${petrova}/restore`);
  });

  it('rejects a callback that was not started here or was tampered with', async () => {
    const callback = `${desk.url}/api/admin/v1/session/oidc/callback`;
    const left = await fetch(`${desk.url}/api/admin/v1/session/oidc?to=//example.org`, { redirect: 'manual' });
    assert.equal(left.status, 302);
    const cookie = (left.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    assert.match(left.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Lax/);
    const asked = new URL(left.headers.get('location') ?? '');
    assert.equal(asked.searchParams.get('code_challenge_method'), 'S256');
    assert.ok(
      (asked.searchParams.get('nonce') ?? '').length > 20 && (asked.searchParams.get('state') ?? '').length > 20,
    );
    const state = asked.searchParams.get('state') ?? '';
    for (const [query, headers] of [
      [`?code=x&state=${state}&iss=${issuer}`, {}],
      [`?code=x&state=${state}&iss=${issuer}`, { cookie: `${cookie.slice(0, -4)}AAAA` }],
      [`?code=x&state=other&iss=${issuer}`, { cookie }],
      [`?code=x&state=${state}&iss=https://example.org`, { cookie }],
      [`?error=access_denied&state=${state}&iss=${issuer}`, { cookie }],
      ['', { cookie }],
    ] as const) {
      const back = await fetch(callback + query, { redirect: 'manual', headers });
      assert.equal(back.headers.get('location'), '/sign-in?refused=1', query);
      assert.ok(!(back.headers.get('set-cookie') ?? '').includes('docket_session'), query);
    }
  });

  it('reports an unreachable provider', async () => {
    const lonely = await startConsole({
      oidc: { issuer: 'http://127.0.0.1:1', clientId: 'docket', clientSecret: undefined },
    });
    const answer = await fetch(`${lonely.url}/api/admin/v1/session/oidc`, { redirect: 'manual' });
    assert.equal(answer.headers.get('location'), '/sign-in?refused=1');
    await lonely.close();
  });
});
