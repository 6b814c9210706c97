/**
 * Where an answer of a user came in. The boundary writes it into each answer to an elicitation, over whatever a client
 * put there, so that a receipt can say which call was approved. A shape keeps it in sealed state with the answer.
 */

/** The facts of one answer. */
export interface AnswerStamp {
  /** The call's id. */
  readonly call: string;
  /** The question's key. */
  readonly key: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string;
  /** SHA-256 of the arguments' canonical JSON, base64url. */
  readonly argumentsDigest: string;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym?: string | undefined;
  /** When the question went out, in seconds since the epoch. */
  readonly askedAt: number;
  /** When the answer came in, in seconds since the epoch. */
  readonly answeredAt: number;
  /** The digest of the question that went out under `key`; undefined where none did, and the policy accepts that. */
  readonly asked?: string | undefined;
}

const STAMP = 'mrtr.stamp';

// The stamps of answers that no code has reported. Those in state are copies, and so not in here.
const unreported = new WeakSet<object>();

/** `response` with a stamp on it, if it answers an elicitation. Other answers stay as they are. */
export function stampAnswer(response: unknown, make: () => AnswerStamp): unknown {
  if (typeof response !== 'object' || response === null || !('action' in response)) return response;
  const stamp = make();
  unreported.add(stamp);
  return { ...response, [STAMP]: stamp };
}

/** The answers as the client sent them. */
export const withoutStamps = (responses: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(responses).map(([key, response]) => [key, withoutStamp(response)]));

function withoutStamp(response: unknown): unknown {
  if (stampOf(response) === undefined) return response;
  const { [STAMP]: _stamp, ...sent } = response as Record<string, unknown>;
  return sent;
}

/** The stamp of an answer; undefined where no boundary has seen it. */
export const stampOf = (response: unknown): AnswerStamp | undefined =>
  (response as { readonly [STAMP]?: AnswerStamp } | null | undefined)?.[STAMP];

/** The parts of an answer that a shape keeps, with its stamp. */
export const keepStamp = (response: unknown, kept: object): object => ({
  ...kept,
  [STAMP]: stampOf(response),
});

/** Whether this is the first report of an answer: the next one is told no. */
export const isFirstReport = (stamp: AnswerStamp): boolean => unreported.delete(stamp);
