/** The record of a request, from the moment its caller is known and its state is open until its handler has ended. */
import { hash } from 'node:crypto';
import type { ClientCapabilities, McpServer, ServerContext } from '@modelcontextprotocol/server';
import { declaredInEnvelope } from '../questions/can-ask.ts';
import { derivePseudonym } from '../state/at-rest.ts';
import { type Binding, canonicalArguments } from '../state/binding.ts';
import { freshId, type OpenedState } from '../state/codec.ts';
import type { SealingKey } from '../state/key-ring.ts';
import { AnswerReads } from '../wire/answer-reads.ts';
import { type AnswerStamp, type Call, isModern } from '../wire/call.ts';
import { declaredKinds, type InputKind } from '../wire/input-kind.ts';
import { dropUnhandled } from '../wire/no-handler.ts';
import { sharedGetter } from '../wire/shared-getter.ts';
import type { Members, MrtrMethod } from '../wire/wire.ts';
import { ownAnswers } from './incoming-answers.ts';
import type { PolicyParts } from './policy.ts';
import type { Rejections } from './rejections.ts';

/** A request as the SDK hands it to a low-level handler. */
export type McpRequest = { readonly params?: Members | undefined };

/** The facts that the boundary establishes before it makes the record. */
interface Facts {
  readonly server: McpServer;
  readonly policy: PolicyParts;
  readonly rejections: Rejections;
  readonly request: McpRequest;
  readonly ctx: ServerContext;
  readonly binding: Binding;
  /** Undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
  /** The request's token and its content; undefined in the first round. */
  readonly token: string | undefined;
  readonly opened: OpenedState | undefined;
}

/** The boundary's record of a request. Shapes read the part of it that {@link Call} has. */
export class AdmittedCall implements Call {
  readonly id: string;
  readonly method: MrtrMethod;
  readonly target: string;
  readonly round: number;
  readonly pseudonym: string | undefined;
  readonly audience: string;
  readonly revision: string | undefined;
  readonly legacyCapabilities: ClientCapabilities | undefined;
  readonly legacy: Call['legacy'];
  readonly askable: readonly InputKind[];
  readonly asked: ReadonlyMap<string, string> | undefined;
  readonly timesAsked: ReadonlyMap<string, number>;
  readonly timesUnfit: ReadonlyMap<string, number>;
  readonly reads = new AnswerReads();
  readonly limits: PolicyParts['limits'];
  readonly version: string | undefined;
  /**
   * Whether the author's code was entered. `McpServer` rejects some requests before it calls the handler, for example
   * those of an unknown or disabled tool: then nobody calls the registered callback, and the record stays `unseen`.
   */
  entry: 'unseen' | 'entered' | 'rejected' = 'entered';
  /** Whether the author's code threw. */
  threw = false;
  /** The registered callback, until its shape has begun. */
  callback: unknown;
  /** Set if the token has no lease: whether this callback may be entered without one. */
  accepts: ((callback: unknown) => boolean) | undefined;
  /** The rejection of state that does not fit the handler's schema, if any. */
  misfit: unknown;
  // Private: a log of a handler's `ctx` must show neither keys, nor tokens, nor the principal.
  readonly #facts: Facts;
  readonly #answers: Members | undefined;
  #argumentsDigest: string | undefined;

  constructor(facts: Facts) {
    const { server, policy, ctx, binding, pseudonym, opened } = facts;
    const { method, target, audience } = binding;
    this.#facts = facts;
    this.id = opened?.callId ?? freshId();
    this.method = method;
    this.target = target;
    this.round = (opened?.round ?? 0) + 1;
    this.pseudonym = pseudonym;
    this.audience = audience;
    // Read from the `McpServer`: an old client could write anything into the request's envelope.
    this.revision = server.server.getNegotiatedProtocolVersion();
    this.legacyCapabilities = isModern(this.revision) ? undefined : server.server.getClientCapabilities();
    this.legacy = policy.legacy;
    this.askable = askableKinds(server, policy, ctx);
    this.asked = policy.unaskedAnswers.includes(target) ? undefined : (opened?.asked ?? NOTHING_ASKED);
    const { inputResponses } = ctx.mcpReq;
    this.#answers = inputResponses && ownAnswers(inputResponses, this.asked);
    this.timesAsked = opened?.timesAsked ?? NOTHING_ASKED;
    this.timesUnfit = opened?.timesUnfit ?? NOTHING_ASKED;
    this.limits = policy.limits;
    this.version = policy.versions.of(target);
  }

  get signal() {
    return this.#facts.ctx.mcpReq.signal;
  }

  /** Whether this round or an earlier one has given up a question. */
  get hasGivenUp() {
    return this.#facts.opened?.hasGivenUp === true || this.reads.givenUp !== undefined;
  }

  get facts(): Facts {
    return this.#facts;
  }

  /** The answers to the questions that were asked. Undefined in a request that brings no answers. */
  get answers(): Members | undefined {
    return this.#answers;
  }

  isPseudonym(text: string | undefined) {
    const { policy, binding } = this.#facts;
    return policy.keys.ring.some((key) => callerPseudonym(binding, key) === text);
  }

  report(error: unknown) {
    this.#facts.rejections.report(error, this);
  }

  rejectState(why: string): never {
    const { rejections, token } = this.#facts;
    try {
      return rejections.rejectState({ reason: 'wrong_version', detail: 'other_schema' }, this, token, why);
    } catch (error) {
      this.misfit ??= error;
      throw error;
    }
  }

  stamp(key: string, askedAt?: number, asked?: string): AnswerStamp {
    const { id: call, target, pseudonym } = this;
    const answeredAt = secondsOf(this.#facts.policy.now());
    const stamp = { call, key, target, pseudonym, askedAt: askedAt ?? answeredAt, answeredAt, asked };
    return Object.defineProperty({ ...stamp, [OF]: this } as never, 'argumentsDigest', DIGEST_ON_DEMAND);
  }

  /** Hashes once for all answers of the round: arguments may be large. */
  get argumentsDigest(): string {
    this.#argumentsDigest ??= hash('sha256', canonicalArguments(this.#facts.binding), 'base64url');
    return this.#argumentsDigest;
  }
}

/** In a stamp, the record that made it. */
const OF = Symbol('mrtr.of');

/** On demand, because only approvals and kept answers need it. */
const DIGEST_ON_DEMAND = sharedGetter((stamp: { readonly [OF]: AdmittedCall }) => stamp[OF].argumentsDigest);

/** The kinds of input that the client of a request can be asked for. */
export function askableKinds(
  { server }: McpServer,
  { legacy }: Pick<PolicyParts, 'legacy'>,
  ctx: ServerContext,
): readonly InputKind[] {
  if (isModern(server.getNegotiatedProtocolVersion())) return declaredInEnvelope(ctx);
  return dropUnhandled(declaredKinds(legacy === 'shim' ? server.getClientCapabilities() : undefined), ctx);
}

/** The caller's pseudonym: a keyed digest that all instances share. */
export const callerPseudonym = ({ principal }: Binding, key: SealingKey): string | undefined =>
  principal === undefined ? undefined : derivePseudonym(principal, key);

export const secondsOf = (ms: number) => Math.floor(ms / 1000);

const NOTHING_ASKED = new Map<string, never>();
