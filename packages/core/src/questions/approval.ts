/** Approvals: questions that only an explicit yes to their words answers. */
import { hash } from 'node:crypto';
import type { ElicitResult } from '@modelcontextprotocol/server';
import { type ApprovalEvent, type Assurance, publish, type Receipt } from '../diagnostics/events.ts';
import { InvalidOption, UnprotectedServer } from '../errors.ts';
import { asRequired, aText, type OptionCheck, requireArgument, requireOptions } from '../options.ts';
import { isFirstReport, keepStamp, stampOf } from '../wire/answer-stamp.ts';
import type { AnswerStamp } from '../wire/call.ts';
import { type Members, ownEntry } from '../wire/wire.ts';
import type { Accepted, Answer } from './answer.ts';
import { formRequest, prune, readAction } from './elicitation.ts';
import { type Question, question } from './question.ts';
import { escapeDeceptive, Words } from './words.ts';

/** The accepted answer to an {@link approval}. */
export interface Approval {
  readonly approved: true;
  readonly receipt: Receipt;
}

/** The options of {@link approval}. */
export interface ApprovalOptions {
  /** The label of the choice that approves: `Pay`. */
  readonly approve: string;
  /** The label of the choice that refuses: `Do not pay`. It is shown first. */
  readonly refuse: string;
  /** A text that the user has to type, for example the name of the account. */
  readonly type?: string;
}

/** Checks a label or a text to type: one line, without quotation marks. */
export const approvalLabel: OptionCheck = {
  allowed: 'a text on one line, without quotation marks and without characters that one does not see',
  isAllowed: (value) =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    value === value.trim() &&
    escapeDeceptive(value) === value,
  quotesText: true,
};

/** Checks a text that `words` made. */
export const someWords: OptionCheck = {
  allowed: 'made with words`…`, which sets its data apart',
  isAllowed: Words.isWords,
};

/**
 * Asks for a yes to `words`. The form has one required choice without a default, and the refusal comes first. An empty
 * form, another value or a missing typed text does not approve. It has no `fallback`: a client that cannot be asked
 * cannot approve.
 *
 * **It proves that the client chose this answer to these words.** A client or a model that chooses the affirmative
 * value by itself defeats it. Where that matters, ask on a page with `approvalPage` of `@mrtr/pages`.
 *
 * The accepted answer is `{ approved: true, receipt }`. Refusing in the form reads as `declined`.
 *
 * @throws InvalidOption for words that `words` did not make, for an empty label, and for two equal labels.
 * @example
 * const sure = approval(words`Pay ${amount} to ${payee}?`, { approve: 'Pay', refuse: 'Do not pay' });
 * const answer = readAnswer(ctx, 'sure', sure);
 * if (isRefusal(answer)) return cancelledResult('sure');
 * if (answer.kind !== 'accepted') return ask({ sure });
 * return textResult(await pay(amount, payee, answer.value.receipt));
 */
export function approval(words: Words, options: ApprovalOptions): Question<Approval> {
  requireArgument('approval', 'words', words, someWords);
  requireOptions('approval', options, {
    approve: asRequired(approvalLabel),
    refuse: asRequired(approvalLabel),
    type: { ...approvalLabel, undefinedAllowed: 'if-left-out' },
  });
  requireTwoLabels('approval', options);
  requireArgument('approval', 'words', words.text, aText);
  const { text } = words;
  const made: Question<Approval> = question<Approval, object>({
    kind: 'elicitation',
    message: text,
    request: formRequest(text, formOf(options)),
    read: (response): Answer<Approval> => interpret(response, made, options.type),
    keep: (response) => keepStamp(response, prune(response as ElicitResult, [DECISION, TYPED])),
  });
  return made;
}

const DECISION = 'decision';
const TYPED = 'typed';

function formOf({ approve, refuse, type }: ApprovalOptions): object {
  const decision = {
    type: 'string',
    title: 'Decision',
    // The refusal first, so that a client that picks the first value does not approve.
    oneOf: [
      { const: 'refuse', title: refuse },
      { const: 'approve', title: approve },
    ],
  };
  const typed = type !== undefined && {
    [TYPED]: { type: 'string', title: `To approve, type “${type}”` },
  };
  return { type: 'object', properties: { [DECISION]: decision, ...typed }, required: [DECISION] };
}

function interpret(
  response: unknown,
  { message, digest }: Question<Approval>,
  type: string | undefined,
): Answer<Approval> {
  const given = readAction(response);
  if (given.kind === 'missing') return given;
  const stamp = requireStamp(response);
  // Check this even if the policy accepts unasked answers: nobody was shown these words.
  if (stamp.asked !== digest) return { kind: 'missing' };
  const answer = given.kind === 'accepted' ? decide(given.value, type) : given.kind;
  const assurance = type === undefined ? 'form' : 'typed-form';
  return answer === 'approved' ? approvedAnswer(stamp, message, assurance) : refusedAnswer(stamp, answer);
}

/**
 * @throws UnprotectedServer for an answer that the boundary has not stamped: its client could have forged the stamp.
 */
export function requireStamp(response: unknown): AnswerStamp {
  const stamp = stampOf(response);
  if (stamp) return stamp;
  throw new UnprotectedServer(
    'An approval came to a server that does not protect it. Call protectRequestState(server, policy) on the new ' +
      'McpServer before you register anything.',
  );
}

/** @throws InvalidOption for labels that a person cannot tell apart. */
export function requireTwoLabels(
  owner: string,
  { approve, refuse }: Pick<ApprovalOptions, 'approve' | 'refuse'>,
) {
  if (approve.toLowerCase() !== refuse.toLowerCase()) return;
  throw new InvalidOption(`${owner}: approve and refuse are both '${approve}'. Give them two labels.`);
}

type Decision = ApprovalEvent['outcome'];

function decide(content: object | undefined, type: string | undefined) {
  if (content == null) return 'missing';
  const fields = content as Members;
  const [decision, typed] = [DECISION, TYPED].map((name) => ownEntry(fields, name));
  if (decision === 'refuse') return 'refused';
  if (decision !== 'approve') return 'invalid';
  return type === undefined || (typeof typed === 'string' && typed.trim() === type) ? 'approved' : 'invalid';
}

/** Makes the answer of a user who approved, with a receipt. Publishes the approval on the first read. */
export function approvedAnswer(
  stamp: AnswerStamp,
  words: string,
  assurance: Assurance,
  times: Pick<AnswerStamp, 'askedAt' | 'answeredAt'> = stamp,
): Accepted<Approval> {
  const { call, key, target: tool, argumentsDigest, pseudonym } = stamp;
  const { askedAt, answeredAt } = times;
  const wordsDigest = digestOf(words);
  const receipt: Receipt = {
    id: digestOf(JSON.stringify([call, key, wordsDigest, askedAt, answeredAt])).slice(0, 22),
    ...{ words, wordsDigest, assurance, call, tool, argumentsDigest },
    ...(pseudonym !== undefined && { pseudonym }),
    ...{ askedAt, answeredAt },
  };
  if (isFirstReport(stamp)) publish('mrtr:approval', { outcome: 'approved', call, target: tool, receipt });
  return { kind: 'accepted', value: { approved: true, receipt } };
}

/** Makes the answer of a user who did not approve. Only the published event says how. */
export function refusedAnswer(
  stamp: AnswerStamp,
  outcome: Exclude<Decision, 'approved'>,
): Exclude<Answer<never>, { kind: 'accepted' }> {
  const { call, target } = stamp;
  if (isFirstReport(stamp)) publish('mrtr:approval', { outcome, call, target });
  if (outcome === 'invalid')
    return { kind: outcome, issues: [{ message: 'Nothing was chosen that approves or refuses.' }] };
  return { kind: outcome === 'refused' ? 'declined' : outcome };
}

const digestOf = (text: string) => hash('sha256', text, 'base64url');
