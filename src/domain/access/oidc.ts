/**
 * Signing in to the console through an OpenID Connect provider: authorization code flow with PKCE, state and nonce. The state
 * of the flow is stored in a sealed cookie, so any process can handle the callback.
 *
 * Signing in creates no user: the user must exist and be ACTIVE. The `sub` of the provider is compared with `externalId`. If
 * none matches, the e-mail address decides, provided that the provider has verified it.
 */
import { isActive } from '../../contract/state.ts';
import type { Configuration } from 'openid-client';
import type { Service } from '../../platform/module.ts';
import type { Redirect, RedirectPage, RedirectRequest } from '../../platform/unit-of-work/binding.ts';
import { type Clock, newId } from '../../platform/clock.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { findKey } from '../identity/index.ts';
import { anonymousActor } from './actor.ts';
import { signIns } from './parts.ts';
import { openedCookie, openSession } from './sessions.ts';
import type { SignIns } from './sign-in.ts';
import * as store from './store.ts';

export interface OidcOptions {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  secrets: SecretBox;
  signIns: SignIns;
  work: Work;
  clock: Clock;
  /** The actor of reads and writes before the user is known. */
  caller(): Promise<Caller>;
  onError(error: unknown): void;
}

/** The state of the flow between redirect and callback. */
interface FlowState {
  state: string;
  nonce: string;
  verifier: string;
  to: string;
  until: number;
}

const OIDC_PATH = '/api/admin/v1/session/oidc';
const COOKIE = 'docket_oidc';
const PURPOSE = 'oidc sign-in';
const MINUTES = 10;
const TIMEOUT_S = 10;

/** Returns the path if it belongs to this service, else `/`: prevents open redirects. */
function ownPath(to: string | null): string {
  return to !== null && /^\/(?![/\\])[^\s\p{Cc}]{0,2000}$/u.test(to) ? to : '/';
}

/** Loaded on first use: most installations do not need it. */
const client = () => import('openid-client');

class Oidc {
  readonly #options: OidcOptions;
  #found: Promise<Configuration> | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  /** The provider's metadata, fetched once and again after a failure. */
  #configuration(): Promise<Configuration> {
    this.#found ??= this.#discover();
    this.#found.catch(() => {
      this.#found = undefined;
    });
    return this.#found;
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const { allowInsecureRequests, discovery, None } = await client();
    // The settings allow http only for a provider on the same host.
    const insecure = issuer.startsWith('http:') ? { execute: [allowInsecureRequests] } : {};
    const authentication = clientSecret === undefined ? None() : undefined;
    const options = { ...insecure, timeout: TIMEOUT_S };
    return await discovery(new URL(issuer), clientId, clientSecret, authentication, options);
  }

  /** Redirects the user to the provider. */
  async startSignIn(request: RedirectRequest): Promise<Redirect> {
    const { secrets, clock } = this.#options;
    try {
      const configuration = await this.#configuration();
      const oidc = await client();
      const flow: FlowState = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
        to: ownPath(request.query.get('to')),
        until: clock.now() + MINUTES * 60_000,
      };
      const location = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: `${request.base}${OIDC_PATH}/callback`,
        scope: 'openid email profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      });
      const sealed = secrets.seal(JSON.stringify(flow), PURPOSE).toString('base64url');
      return { location: location.href, cookies: [flowCookie(sealed, MINUTES * 60, request.secure)] };
    } catch (error) {
      this.#options.onError(error);
      return { location: '/sign-in?refused=1', cookies: [] };
    }
  }

  /** Handles the callback: opens a session if the provider confirms a user who exists here. */
  async handleCallback(request: RedirectRequest): Promise<Redirect> {
    const expired = flowCookie('', 0, request.secure);
    const refused: Redirect = { location: '/sign-in?refused=1', cookies: [expired] };
    const flow = this.#open(request.cookie(COOKIE));
    if (flow === undefined) return refused;
    try {
      const configuration = await this.#configuration();
      const { authorizationCodeGrant, fetchUserInfo } = await client();
      const url = new URL(`${request.base}${OIDC_PATH}/callback?${request.query}`);
      const tokens = await authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: flow.verifier,
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) return refused;
      // Many providers return the address only from the userinfo endpoint.
      const userInfo =
        claims['email'] === undefined ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
      const verified =
        userInfo['email_verified'] === true && typeof userInfo['email'] === 'string' ? userInfo['email'] : undefined;
      const opened = await this.#admit(claims.sub, verified, request);
      return opened === undefined ? refused : { location: flow.to, cookies: [expired, ...opened] };
    } catch (error) {
      this.#options.onError(error);
      return refused;
    }
  }

  #open(sealed: string | undefined): FlowState | undefined {
    if (sealed === undefined) return undefined;
    try {
      const flow = JSON.parse(this.#options.secrets.open(Buffer.from(sealed, 'base64url'), PURPOSE)) as FlowState;
      return flow.until > this.#options.clock.now() ? flow : undefined;
    } catch {
      return undefined;
    }
  }

  /** The cookies of the session and of the device; undefined if no ACTIVE user matches. */
  async #admit(sub: string, email: string | undefined, request: RedirectRequest): Promise<string[] | undefined> {
    const { work, caller, signIns } = this.#options;
    const { sender, secure } = request;
    const user = await work.read(await caller(), (ctx) =>
      store.findByClaims(ctx, sub, email === undefined ? undefined : findKey(email)),
    );
    if (user === undefined) return undefined;
    const result = await work.write(await caller(), async (ctx) => {
      const admitted = isActive(user);
      ctx.emit({
        type: admitted ? 'SignedIn' : 'SignInRefused',
        subject: `user:${user.id}`,
        data: { by: 'oidc' },
      });
      if (!admitted) return undefined;
      return {
        token: openSession(ctx, user.id, request).token,
        device: signIns.note(ctx, user.id, sender, secure),
      };
    });
    const opened = result.kind === 'done' ? result.data : undefined;
    return opened === undefined ? undefined : [openedCookie(opened.token, secure), opened.device];
  }
}

/** SameSite=Lax, since the callback comes from another site. */
function flowCookie(value: string, seconds: number, secure: boolean): string {
  return `${COOKIE}=${value}; Path=${OIDC_PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** The two pages of a sign-in: the redirect to the provider, and the callback. */
export function oidcPages({ settings, secrets, get, work, clock, versions, log }: Service): RedirectPage[] {
  if (settings.oidc === undefined) return [];
  const oidc = new Oidc({
    ...settings.oidc,
    secrets,
    signIns: get(signIns),
    work,
    clock,
    caller: async () => ({
      actor: anonymousActor(),
      via: 'console',
      keyId: null,
      correlationId: newId(),
      config: await versions.fresh(),
    }),
    onError: (error) => log.warn({ err: error }, 'OpenID Connect sign-in failed'),
  });
  return [
    { path: OIDC_PATH, id: 'session.oidc', answer: (request) => oidc.startSignIn(request) },
    { path: `${OIDC_PATH}/callback`, id: 'session.oidcCallback', answer: (request) => oidc.handleCallback(request) },
  ];
}
