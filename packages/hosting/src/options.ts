/** The options of a mount, and their checks. */
import type { AuthInfo, OAuthTokenVerifier, ServerEventBus } from '@modelcontextprotocol/server';
import {
  aFunction,
  anObjectWith,
  anyValue,
  aTimeInSeconds,
  listOf,
  type OptionChecks,
  oneOf,
  requireOptions,
} from '@mrtr/core/internal';
import { GONE_OPTIONS, type Limits, type MountLimits, mountLimits } from './limits.ts';
import type { PageSet } from './pages.ts';
import { aReadinessCheck, type ReadinessCheck } from './readiness.ts';
import { type OnError, requireInstance, type ServerInstance } from './server-instance.ts';

/** The options of `createMcpMount`. All have defaults. */
export interface MountOptions {
  /**
   * The host names of this server; IPv6 addresses in brackets. Pages of these hosts may call, on any port. `any`: the
   * router in front checks the host, and only pages of `allowedOrigins` may call. Default: `localhost` and its addresses.
   */
  readonly allowedHosts?: readonly string[] | 'any';
  /**
   * Origins of other pages that may call: `https://app.example`. Allowed pages get CORS headers, others 403. Default:
   * no others.
   */
  readonly allowedOrigins?: readonly string[];
  /** Authenticates callers. Default: anyone may call, so bind to loopback. Not called if a middleware has authenticated. */
  readonly verifier?: OAuthTokenVerifier | undefined;
  /**
   * Identifies a caller, for sessions and limits. Synchronous. It gets the AuthInfo; the policy's `principal` gets the
   * context. Default: the token's issuer, client and subject, as in the policy. Give both one rule.
   *
   * @example
   * const userOf = (caller?: AuthInfo) => caller?.extra?.userId as string | undefined;
   * const policy = requestStatePolicy({ principal: (ctx) => userOf(ctx.http?.authInfo) });
   * const mcp = createMcpMount(served, { principal: userOf });
   */
  readonly principal?: (caller: AuthInfo) => string | undefined;
  /**
   * How to treat a request without a caller: neither a middleware nor `verifier` has authenticated it, or `principal` returns
   * undefined. All such requests are of one user: each can finish the calls of the others. `reject`: 401, and `onerror`
   * gets the place where the mount reads the caller. `accept`: serve it. Default: serve it, and warn once in a process
   * (`MRTR_ANONYMOUS`) if it carries `Authorization` or a cookie, or this mount has a `principal` or other callers.
   */
  readonly anonymous?: 'accept' | 'reject';
  /**
   * How to serve old clients. `sessions` keeps a session for each, so that tools can ask them. `stateless` keeps nothing:
   * a question gets its `fallback`, or ends the call with an error. Default: `sessions`, and on Cloudflare Workers
   * `stateless`, because a request there cannot write to the stream of another one.
   */
  readonly legacyClients?: 'sessions' | 'stateless';
  /**
   * Carries the changes of `notify` to the subscriptions of new clients. If instances share a bus, a subscription on one
   * receives the changes of all. Closing an instance does not close the bus. Default: the instance's own.
   */
  readonly bus?: ServerEventBus;
  /** Pages for browsers, such as those of `pendingInteractions`. At most 100 are served at once. */
  readonly pages?: readonly PageSet[];
  /**
   * Receives errors that clients and browsers do not see: of this hosting, of its servers, and of `pages` of `@mrtr/pages`.
   * Default: the policy's `onerror`, from the first server on. Without both, a process warning for the first of each kind.
   */
  readonly onerror?: OnError;
  /** Limits of what clients make this mount hold. */
  readonly limits?: MountLimits;
  /**
   * The check of `isReady`: the policy's ledger, or a function that rejects or returns false if the server cannot serve.
   * It runs at most once a second, and has two seconds. Default: no check.
   */
  readonly readiness?: ReadinessCheck;
  /** How long `close` waits for calls in flight, in seconds. Default 10. */
  readonly drainSeconds?: number;
}

const texts = (members: string) => listOf(members, (value) => typeof value === 'string');

/** @internal */
export const MOUNT_CHECKS: OptionChecks<MountOptions> = {
  allowedHosts: {
    allowed: "a list of host names, or 'any'",
    isAllowed: (value) => value === 'any' || texts('host names').isAllowed(value),
  },
  allowedOrigins: texts('origins'),
  verifier: anObjectWith('verifyAccessToken'),
  principal: aFunction,
  anonymous: oneOf('accept', 'reject'),
  legacyClients: oneOf('sessions', 'stateless'),
  bus: anObjectWith('publish', 'subscribe'),
  // Do not read `path`: it may be known only once the server listens.
  pages: listOf('pages, each an object with fetch()', (value) => anObjectWith('fetch').isAllowed(value)),
  onerror: aFunction,
  // mountLimits() checks each number.
  limits: anyValue,
  readiness: aReadinessCheck,
  drainSeconds: aTimeInSeconds,
};

/**
 * Checks the options of `owner`, and returns the limits.
 *
 * @throws InvalidOption for `served` without `server`, and for an unknown or invalid option.
 * @internal
 */
export function checkOptions<Options extends MountOptions>(
  owner: string,
  served: ServerInstance,
  options: Options,
  checks: OptionChecks<Options>,
): Limits {
  requireInstance(owner, served);
  requireOptions(owner, options, checks, GONE_OPTIONS);
  return mountLimits(owner, options.limits);
}
