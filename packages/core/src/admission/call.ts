/** The record of an admitted request, from the moment its caller is known and its state is open. */
import { hash } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { declaredInEnvelope } from '../questions/can-ask.ts';
import { derivePseudonym } from '../state/at-rest.ts';
import { type Binding, canonicalArguments } from '../state/binding.ts';
import { freshCallId, type OpenedState } from '../state/codec.ts';
import type { SealingKey } from '../state/key-ring.ts';
import { AnswerReads } from '../wire/answer-reads.ts';
import { type Call, isModern } from '../wire/call.ts';
import { declaredKinds } from '../wire/input-kind.ts';
import { handledKinds } from '../wire/no-handler.ts';
import type { PolicyParts } from './policy.ts';
import type { Rejections } from './rejections.ts';

/** A request as the SDK hands it to a low-level handler. */
export type McpRequest = { readonly params?: Readonly<Record<string, unknown>> | undefined };

/** The facts that the boundary establishes before it admits a request. */
export interface Admitted {
  readonly server: McpServer;
  readonly policy: PolicyParts;
  readonly rejections: Rejections;
  readonly request: McpRequest;
  readonly ctx: ServerContext;
  readonly binding: Binding;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
  /** The request's token and its content; undefined in the first round. */
  readonly token: string | undefined;
  readonly opened: OpenedState | undefined;
}

/** An admitted request: the record that shapes read, and what only the boundary reads and notes. */
export interface AdmittedCall extends Call {
  /** Not enumerable: a log of a handler's `ctx` must show neither keys nor tokens. */
  readonly admitted: Admitted;
  /** The refusal of state that does not fit the handler's schema, if any. */
  misfit?: unknown;
  /**
   * Whether the author's code was entered. `McpServer` rejects some requests before it calls the handler (an unknown or
   * disabled tool, arguments that do not fit), and makes a result of what a tool throws: both look like results from
   * outside. `unseen`: no watched call was made. A target without a watch, such as one whose `executor` the author
   * assigned, counts as entered.
   */
  entry: 'unseen' | 'entered' | 'rejected';
  /** Whether the author's code threw. */
  threw: boolean;
  /** The registered callback, until its shape has begun. */
  callback?: unknown;
  /** Set if the token has no lease: whether this callback may be entered without one. */
  accepts?: ((callback: unknown) => boolean) | undefined;
}

/** Makes the record of an admitted request. */
export function recordCall(admitted: Admitted): AdmittedCall {
  const { server, policy, rejections, ctx, binding, pseudonym, opened } = admitted;
  const { method, target, audience } = binding;
  // Read from the server instance: an old client could write anything into the request's envelope.
  const revision = server.server.getNegotiatedProtocolVersion();
  const legacyCapabilities = isModern(revision) ? undefined : server.server.getClientCapabilities();
  const askableWhenOld = policy.legacy === 'shim' ? legacyCapabilities : undefined;
  let argumentsDigest: string | undefined;
  const record: Omit<AdmittedCall, 'admitted'> = {
    id: opened?.callId ?? freshCallId(),
    method,
    target,
    revision,
    legacyCapabilities,
    legacy: policy.legacy,
    pseudonym,
    audience,
    isPseudonym: (text) => policy.keys.ring.some((key) => callerPseudonym(binding, key) === text),
    round: (opened?.round ?? 0) + 1,
    timesAsked: opened?.timesAsked ?? NOTHING_ASKED,
    rejectState: (why) => {
      try {
        return rejections.rejectState(OTHER_SCHEMA, call, admitted.token, why);
      } catch (error) {
        call.misfit ??= error;
        throw error;
      }
    },
    report: (error) => rejections.report(error, call),
    reads: new AnswerReads(),
    stamp: (key, askedAt, asked) => {
      // Hash once for all answers of the round: arguments may be large.
      argumentsDigest ??= hash('sha256', canonicalArguments(binding), 'base64url');
      const answeredAt = secondsOf(policy.now());
      const times = { askedAt: askedAt ?? answeredAt, answeredAt };
      return { call: call.id, key, target, argumentsDigest, pseudonym, ...times, asked };
    },
    asked: acceptsUnasked(policy, target) ? undefined : (opened?.asked ?? NOTHING_ASKED),
    askable: isModern(revision) ? declaredInEnvelope(ctx) : handledKinds(declaredKinds(askableWhenOld), ctx),
    limits: policy.limits,
    version: policy.versions.of(target),
    entry: 'entered',
    threw: false,
  };
  const call = Object.defineProperty(record, 'admitted', { value: admitted }) as AdmittedCall;
  return call;
}

const OTHER_SCHEMA = { reason: 'wrong_version', detail: 'other_schema' } as const;

/** The caller's pseudonym: a keyed digest that all instances share. */
export const callerPseudonym = ({ principal }: Binding, key: SealingKey): string | undefined =>
  principal === undefined ? undefined : derivePseudonym(principal, key);

/** Whether the policy accepts answers to questions that were not asked. */
const acceptsUnasked = ({ unaskedAnswers }: PolicyParts, target: string): boolean =>
  typeof unaskedAnswers === 'string' ? unaskedAnswers === 'accept' : unaskedAnswers.accept.includes(target);

export const secondsOf = (ms: number): number => Math.floor(ms / 1000);

const NOTHING_ASKED = new Map<string, never>();
