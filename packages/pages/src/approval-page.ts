/**
 * A page of the server that asks for an approval. The client's answer alone approves nothing.
 *
 * Invariants, beside those of a pending interaction:
 * 1. A GET approves nothing: mail scanners and previews open links. A button approves, once, with a token of this page.
 * 2. Before a button is pressed, the page shows the words, the details, and the browser's account. All of it is escaped text.
 * 3. No failure approves anything: a store that is full, unreachable or empty ends the call.
 * 4. An approval counts for one call of this principal, with this tool, these arguments and these words.
 */
import {
  type Approval,
  approval,
  canAsk,
  ElicitationDeclined,
  elicitation,
  InvalidOption,
  MrtrError,
  type Question,
  type ServerContext,
  urlElicitation,
  type Words,
} from '@mrtr/core';
import {
  anObjectWith,
  anyValue,
  approvalLabel,
  approvedAnswer,
  asRequired,
  aText,
  canonicalJson,
  type OptionChecks,
  oneOf,
  refusedAnswer,
  requireArgument,
  requireOptions,
  requireStamp,
  requireTwoLabels,
  someWords,
  stampAnswer,
  stampOf,
} from '@mrtr/core/internal';
import { callOf } from '@mrtr/core/shape';
import { type Shown, showApproval } from './approval-html.ts';
import type { CallbackVisit, StartPage, StartVisit } from './page.ts';
import type { PageQuestion, WaitingContext } from './page-questions.ts';
import {
  GONE_OF_PAGES,
  makePages,
  PAGE_CHECKS,
  type PendingInteractionsOptions,
} from './pending-interactions.ts';
import type { Times } from './records.ts';
import { findSameCall, RESUME_SECONDS } from './same-call.ts';

/** A second proof, after the button: a passkey, a code from a phone, a fresh sign-in. */
export interface StepUp {
  /** Returns the page to send the browser to. The browser returns to `callbackUrl` with `state`. */
  start(visit: StartVisit): string | URL | Promise<string | URL>;
  /**
   * Whether the proof holds. `false` or an error approves nothing. The person may try again until the page expires, so
   * limit the tries if a code can be guessed.
   */
  finish(visit: CallbackVisit): boolean | Promise<boolean>;
}

/** The options of {@link approvalPage}. */
export interface ApprovalPageOptions extends Omit<PendingInteractionsOptions<never>, 'start' | 'finish'> {
  /** A second proof, after the button. Receipts then have the assurance `verified-page`. */
  readonly verify?: StepUp;
  /**
   * `same-call`: a client that cannot be asked gets an error with the link. After the approval it sends the same call
   * again, within a minute, which uses the approval up. The store keeps a record for it. Default: reject such a client.
   */
  readonly resume?: 'same-call';
}

/** The texts of one approval. */
export interface ApprovalQuestionOptions {
  /** The label of the button that approves: `Pay`. */
  readonly approve: string;
  /** The label of the button that refuses. It comes first. */
  readonly refuse: string;
  /** More facts of this call to show, by name. Together with the words at most 3 KiB. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Distinguishes two approvals of one call that have the same words. */
  readonly name?: string;
  /** Where to approve: on the `page` (the default), or in a form of the `client`. A call cannot accept both. */
  readonly by?: 'page' | 'client';
}

/** The questions and the pages of {@link approvalPage}. */
export interface ApprovalPage {
  /** The path above the pages. */
  readonly path: string;
  /**
   * The question that asks to approve `words`, for handlers that run again in each round. A client that opens URLs is
   * asked to open the page. A client with forms only gets a form whose text holds the link. A client that cannot be asked
   * is rejected, or gets the link in an error; see `resume`.
   *
   * @param ctx the SDK's context; in a shape, `ctx.request`.
   * @throws CannotAsk for a caller without a principal.
   * @throws InvalidOption for words that were not made by `words`, and for a wrong option.
   * @throws ApprovalPending with the link, if `resume` is on.
   * @throws ElicitationDeclined if the user refused before the same call came again.
   * @throws InteractionUnfinished when the time is over, and after `maxAsks` questions.
   * @throws StoreFull when too many pages are open, and StoreUnreachable when the store fails.
   */
  question(ctx: ServerContext, words: Words, options: ApprovalQuestionOptions): Promise<Question<Approval>>;
  /** Asks in a handler that waits (shape H). Such a handler keeps no request, so `resume` does not work there. */
  ask(
    ctx: WaitingContext,
    key: string,
    words: Words,
    options: Omit<ApprovalQuestionOptions, 'name'>,
  ): Promise<Approval>;
  /** Serves the pages: `serveHttp(served, { pages: [page] })`, or any other server. */
  fetch(request: Request): Promise<Response>;
}

/** The call needs an approval on a page. The message holds the link, and is for the user. */
export class ApprovalPending extends MrtrError {
  static override readonly code = 'approval_pending';
}

const CHECKS: OptionChecks<ApprovalPageOptions> = {
  ...PAGE_CHECKS,
  verify: anObjectWith('start', 'finish'),
  resume: oneOf('same-call'),
};

const GONE = {
  ...GONE_OF_PAGES,
  render: 'The page always shows the words, the details, the account and the form.',
  resumeSeconds: `It is fixed: ${RESUME_SECONDS} seconds.`,
};

const QUESTION_CHECKS: OptionChecks<ApprovalQuestionOptions> = {
  approve: asRequired(approvalLabel),
  refuse: asRequired(approvalLabel),
  details: anyValue,
  name: aText,
  by: oneOf('page', 'client'),
};

const MAX_SHOWN_BYTES = 3072;

/**
 * Makes a page with a button that approves and one that refuses.
 *
 * **It proves that a request with the session of the caller pressed a button on a page of this server.** It is defeated by
 * an agent that drives that browser, by anybody else with the session, by a script of the same origin, and by a weak
 * sign-in. With `verify` it also proves your own check.
 *
 * @throws InvalidOption for an unknown, missing or invalid option.
 * @example
 * const page = approvalPage({ policy, url: 'https://shop.example/approve', identifyBrowser });
 * await serveHttp(served, { pages: [page] });
 *
 * // In a journaled handler:
 * const sure = await page.question(ctx.request, words`Pay ${amount} to ${payee}?`, { approve: 'Pay', refuse: 'Do not pay' });
 * const { receipt } = await ctx.ask('sure', sure);
 */
export function approvalPage(options: ApprovalPageOptions): ApprovalPage {
  requireOptions('approvalPage', options, CHECKS, GONE);
  const { verify, resume, ...more } = options;
  const assurance = verify ? 'verified-page' : 'page';
  const startPage: StartPage = {
    show: ({ data }, visitor, token) => showApproval(data as Shown, visitor, token),
    press: (form) => {
      const decision = form.get('decision');
      if (decision === 'refuse') return 'refuse';
      if (decision !== 'approve') return undefined;
      return verify ? 'continue' : 'finish';
    },
    valueFrom: (times) => times,
    done: 'Approved. You can close this page, and go back to where you came from.',
  };
  const start = (visit: StartVisit) => verify?.start(visit) ?? visit.callbackUrl;
  const finish = async (visit: CallbackVisit): Promise<true> => {
    if ((await verify?.finish(visit)) === true) return true;
    throw new Error('The second proof of an approval did not hold. Nothing was approved.');
  };
  // Approvals without `verify` do not count on a page with it.
  const sort = ` ${assurance}`;
  const { questionsFor, path, fetch, inOwnScope } = makePages({ ...more, start, finish }, startPage, sort);

  const subjectOf = (
    words: Words,
    wanted: ApprovalQuestionOptions,
    isForm: boolean,
  ): PageQuestion<Approval> => ({
    message: words.text,
    data: requireShown(words, wanted),
    ...(wanted.name !== undefined && { name: wanted.name }),
    ask: isForm ? askInForm : urlElicitation,
    valueFrom: (decided, response) => {
      const { askedAt, decidedAt } = decided as Times;
      const times = { askedAt, answeredAt: decidedAt };
      return approvedAnswer(requireStamp(response), words.text, assurance, times).value;
    },
    noteRefusal,
  });

  const question: ApprovalPage['question'] = async (ctx, words, wanted) => {
    const { by, name = '' } = wanted;
    if (by === 'client') return approvalInForm(words, wanted);
    const [opensPages, showsForms] = [canAsk(ctx, 'elicitation.url'), canAsk(ctx, 'elicitation')];
    const subject = subjectOf(words, wanted, showsForms && !opensPages);
    const { records, questions } = questionsFor(ctx);
    if (!resume) return questions.ask(ctx, subject);
    const call = callOf(ctx);
    const same = await findSameCall({
      ...{ records, call },
      about: [words.text, canonicalJson(subject.data), name],
      wasAsked: (id) => questions.wasAsked(call, subject, id),
    });
    const url = questions.pageOf(same.id);
    const sendLink = (): never => {
      throw new ApprovalPending(pendingMessage(words.text, url));
    };
    if (opensPages || showsForms) return questions.ask(ctx, { ...subject, id: same.id, sendLink });
    const decided = await same.take();
    if (decided === undefined) {
      await same.begin({ message: words.text, data: subject.data });
      return sendLink();
    }
    const response = stampAnswer({ action: 'accept' }, () => call.stamp(same.id));
    if (decided === 'refused') {
      noteRefusal(response, 'refused');
      throw new ElicitationDeclined('declined');
    }
    const value = subject.valueFrom(decided, response);
    return withValue(urlElicitation(words.text, url), value, (key) => inOwnScope(() => same.readUnder(key)));
  };

  return {
    get path() {
      return path();
    },
    question: (ctx, words, wanted) => {
      requireOptions('question', wanted, QUESTION_CHECKS);
      return inOwnScope(() => question(ctx, words, wanted));
    },
    ask: (ctx, key, words, wanted) => {
      requireOptions('ask', wanted, QUESTION_CHECKS);
      if (wanted.by === 'client') return ctx.ask(key, approvalInForm(words, wanted));
      const isForm = !ctx.canAsk('elicitation.url') && ctx.canAsk('elicitation');
      return questionsFor().questions.waitFor(ctx, key, subjectOf(words, wanted, isForm));
    },
    fetch,
  };
}

/** A question that already has its decision. Used when the client cannot be asked now. */
const withValue = (
  asked: Question,
  value: Approval,
  requireFallbackKey: (key: string) => void,
): Question<Approval> => ({
  ...asked,
  fallback: value,
  requireFallbackKey,
  read: (response) => {
    const answer = asked.read(response);
    if (answer.kind !== 'accepted') return answer;
    // An answer that a shape kept has no stamp. An earlier round read it, and the store knows its key.
    const stamp = stampOf(response);
    if (stamp) requireFallbackKey(stamp.key);
    return { kind: 'accepted', value };
  },
});

const approvalInForm = (words: Words, { approve, refuse }: ApprovalQuestionOptions) =>
  approval(words, { approve, refuse });

/** For a client with forms only. The page decides, so the form has no field. */
const askInForm = (text: string, url: URL): Question =>
  elicitation(`${text}\n\nDecide on this page: ${url}\nThen accept this.`, {
    type: 'object',
    properties: {},
  });

const noteRefusal = (response: unknown, how: 'refused' | 'declined' | 'cancelled') => {
  const stamp = stampOf(response);
  if (stamp) refusedAnswer(stamp, how);
};

/** The content of the page, as the store keeps it. @throws InvalidOption if it is not text, or too long. */
function requireShown(words: Words, options: ApprovalQuestionOptions): Shown {
  const { approve, refuse, details = {} } = options;
  requireArgument('approvalPage', 'words', words, someWords);
  requireTwoLabels('approvalPage', options);
  if (!areDetails(details))
    throw new InvalidOption(
      'approvalPage: details must be a plain object of texts, numbers, and true or false, by their names.',
    );
  const shown = { words: words.text, approve, refuse, details };
  if (Buffer.byteLength(JSON.stringify(shown)) > MAX_SHOWN_BYTES)
    throw new InvalidOption(
      `approvalPage: words and details must be at most ${MAX_SHOWN_BYTES} bytes together.`,
    );
  return shown;
}

/** Whether the page can show every detail. It would omit those of a Map, or of a class with getters. */
function areDetails(details: unknown) {
  if (typeof details !== 'object' || details === null) return false;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(details))) return false;
  const isText = (value: unknown) =>
    Number.isFinite(value) || typeof value === 'string' || typeof value === 'boolean';
  const names = Object.keys(details);
  if (names.length < Reflect.ownKeys(details).length || names.some((name) => name.trim() === ''))
    return false;
  return Object.values(details).every(isText);
}

const pendingMessage = (words: string, url: URL) =>
  `Nothing was done. ${words} A person has to decide that on this page: ${url} Afterwards, call this again with the same ` +
  `arguments, within ${RESUME_SECONDS} seconds of the approval.`;
