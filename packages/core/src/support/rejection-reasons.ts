/** The reasons why requests are rejected, for logs, metrics and documents. Clients never get them. */

/**
 * Whether a rejection indicates an attack. `no`: a mistake, or load. `perhaps`: honest clients cause it too, rarely.
 * `yes`: an honest client never causes it.
 */
export type Attack = 'no' | 'perhaps' | 'yes';

type Meaning = readonly [attack: Attack, meaning: string];

/** Each reason with its meaning. `docs/observability.md` has the same table. */
export const REJECTION_REASONS = {
  malformed: ['perhaps', 'the state is no token: cut off, or made by another program'],
  too_large: ['perhaps', 'the state is longer than `limits.stateBytes`'],
  unknown_key: [
    'perhaps',
    'the state was sealed with a key that is not in the ring: a removed key, or another server',
  ],
  tampered: ['yes', 'the state was changed after it was sealed'],
  issued_in_the_future: ['no', 'the clock of the instance that sealed the state is over a minute ahead'],
  expired: ['no', 'the user took longer than `ttlSeconds`'],
  other_target: ['yes', 'the state belongs to another tool'],
  other_audience: ['yes', 'the state belongs to another server with the same keys'],
  other_principal: [
    'yes',
    'the state belongs to another caller, or its user has signed in to another account meanwhile',
  ],
  other_arguments: [
    'perhaps',
    'the retry has other arguments than the call: an attempt, or a client that changes them',
  ],
  other_version: ['no', 'the state was sealed by code of another `version`'],
  other_schema: [
    'no',
    'a handler found that its state does not fit: a deploy changed it without a new `version`',
  ],
  already_used: ['perhaps', 'the state was served before, and `singleUse` is `reject`'],
  other_answers: ['yes', 'the state was served before, with other answers'],
  in_flight: ['perhaps', 'the state is being served now, and `singleUse` is `reject`'],
  lost: [
    'no',
    'the state was served before, and nobody knows how that ended: an instance died, or a handler hung',
  ],
  abandoned: ['no', 'the client hung up before its retry was served'],
  older_than_ledger: ['no', 'the state is older than the ledger, which may have lost its data'],
  clock_differs: ['no', 'the clocks of this instance and of the ledger differ by over a minute'],
  ledger_full: ['perhaps', 'the ledger has no room, for anybody or for this caller'],
  ledger_failed: ['no', 'the ledger did not answer in time, or failed'],
  principal_failed: ['no', "the policy's `principal` failed"],
  too_many_calls: ['perhaps', 'too many requests run at once, of anybody or of this caller'],
  answer_too_large: ['perhaps', 'an answer is longer than 16 384 bytes, or nested too deeply'],
  invalid_arguments: ['perhaps', 'the arguments are nested too deeply, or hold a number that is not finite'],
  rounds_exceeded: ['no', 'the call asked in more rounds than `limits.rounds`'],
  invalid_question: [
    'no',
    "a handler's question or state is over a limit, or cannot be sent; the author has to mend it",
  ],
  store_full: ['perhaps', 'a store of handlers that wait has no room, for anybody or for this caller'],
  continuation_lost: ['no', 'the handler that waited is gone: expired, ended, or held by another instance'],
  http_unauthorized: [
    'perhaps',
    'the access token is missing, expired or wrong, or no caller was found (401, 403)',
  ],
  http_forbidden_origin: ['perhaps', 'the Host or Origin header names another site'],
  http_no_session: [
    'no',
    'the session of an old client is unknown here (404): it ended, or is on another instance',
  ],
  http_invalid: [
    'perhaps',
    'the request is no valid message, or goes to no known path (400, 404, 405, 408, 413, 415)',
  ],
  http_too_many: ['perhaps', 'one caller has too many requests, sessions, streams or bytes (429)'],
  http_full: ['no', 'the server is full, or is shutting down (503)'],
  http_failed: ['no', 'the hosting failed (500)'],
  stream_unread: ['perhaps', 'a client did not read its stream, which was ended'],
} as const satisfies Readonly<Record<string, Meaning>>;

/** The reason of a rejection. */
export type RejectionReason = keyof typeof REJECTION_REASONS;
