/**
 * A page of the server's own that asks for a yes. The client's answer alone approves nothing.
 *
 * Invariants, beside those of a pending interaction:
 * 1. A GET approves nothing: mail scanners and previews open links. A button approves, once, with a token of this page.
 * 2. The page shows (unless `render` leaves it out) the words, the details, and the account that the browser is signed
 *    in with, before anything is pressed. All of it is text.
 * 3. Nothing is approved because something failed: a store that is full, gone or empty ends the call.
 * 4. What was approved counts for one call of this principal, with this tool, these arguments and these words.
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
  aFunction,
  anObjectWith,
  anyValue,
  approvalLabel,
  approvedAnswer,
  asRequired,
  aText,
  canonicalJson,
  type OptionChecks,
  oneOf,
  type Rung,
  refusedAnswer,
  requireArgument,
  requireOptions,
  requireStamp,
  requireTwoLabels,
  someWords,
  stampAnswer,
  stampOf,
  wholeNumber,
} from '@mrtr/core/kit';
import { callOf } from '@mrtr/core/shape';
import { type ApprovalView, renderApproval, type Shown, showApproval } from './approval-html.ts';
import type { CallbackVisit, Press, StartPage, StartVisit } from './page.ts';
import { makePages, PAGE_CHECKS, type PendingInteractionsOptions } from './pending-interactions.ts';
import type { Subject, WaitingContext } from './question.ts';
import type { Times } from './records.ts';
import { SameCall } from './same-call.ts';

/** A second proof, after the button: a passkey, a code from a phone, a fresh sign-in. */
export interface StepUp {
  /** Gives the page to send the browser to. It comes back to `callbackUrl` with `state`. */
  start(visit: StartVisit): string | URL | Promise<string | URL>;
  /**
   * Whether the proof holds. `false`, or an error, approves nothing, and the person may try again until the page expires:
   * count the tries of a code that can be guessed.
   */
  finish(visit: CallbackVisit): boolean | Promise<boolean>;
}

/** The options of {@link approvalPage}. */
export interface ApprovalPageOptions extends Omit<PendingInteractionsOptions<never>, 'start' | 'finish'> {
  /** A second proof, after the button. Its receipts have the rung `verified-page`. */
  readonly verify?: StepUp;
  /** Gives the inside of `<main>`. Default: the words, the details, the account and the form. */
  readonly render?: (view: ApprovalView) => string;
  /**
   * `same-call`: a client that cannot be asked gets an error with the link, and the same call, sent again after the
   * approval, finds it, once. It keeps a record in the store. Default: such a client is refused.
   */
  readonly resume?: 'same-call';
  /** How long an approval waits for the same call, in seconds. Default 60. */
  readonly resumeSeconds?: number;
}

/** What one approval says. */
export interface ApprovalQuestionOptions {
  /** The label of the button that approves: `Pay`. */
  readonly approve: string;
  /** The label of the button that refuses. It comes first. */
  readonly refuse: string;
  /** What else the page shows of this call, by name. With the words at most 3 KiB. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Tells two approvals of one call apart that have the same words. */
  readonly name?: string;
  /** Where the yes is given: on the `page` (the default), or by the `client`, in a form. There is no "either". */
  readonly by?: 'page' | 'client';
}

/** What {@link approvalPage} makes. */
export interface ApprovalPage {
  /** The path that the pages are below. */
  readonly path: string;
  /**
   * The question for a yes to `words`, for handlers that are entered in each round. A client that opens URLs is asked to
   * open the page. One that shows forms only gets a form whose text holds the link. One that cannot be asked is refused,
   * or gets the link in an error; see `resume`.
   *
   * @param ctx the SDK's context; in a shape, `ctx.request`.
   * @throws CannotAsk for a caller without a principal.
   * @throws InvalidOption for words that `words` did not make, and for a wrong option.
   * @throws ApprovalPending with the link, where `resume` is on.
   * @throws ElicitationDeclined where a refusal was pressed before the same call came again.
   * @throws InteractionUnfinished when the time is over, and when the user was asked as often as allowed.
   * @throws StoreFull when too many pages are open, and StoreUnreachable when the store fails.
   */
  question(ctx: ServerContext, words: Words, options: ApprovalQuestionOptions): Promise<Question<Approval>>;
  /** The same for a handler that waits, in shape H. It keeps no request, so `resume` does not work there. */
  ask(
    ctx: WaitingContext,
    key: string,
    words: Words,
    options: Omit<ApprovalQuestionOptions, 'name'>,
  ): Promise<Approval>;
  /** Serves the pages: `serveHttp(served, { pages: [page] })`, or any other server. */
  fetch(request: Request): Promise<Response>;
}

/** A yes is needed that is given on a page. The message holds the link, and is for the user. */
export class ApprovalPending extends MrtrError {
  static override readonly code = 'approval_pending';
}

const CHECKS: OptionChecks<ApprovalPageOptions> = {
  ...PAGE_CHECKS,
  verify: anObjectWith('start', 'finish'),
  render: aFunction,
  resume: oneOf('same-call'),
  resumeSeconds: wholeNumber(),
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
 * **It proves that a request with the session of the caller pressed a button on a page of this server.** An agent that
 * drives that browser, anybody else with its session, a script of the same origin, and a weak sign-in defeat it. With
 * `verify` it also proves what your own check proves.
 *
 * @throws InvalidOption for an option that does not exist, is missing, or has a value that it cannot have.
 * @example
 * const page = approvalPage({ policy, url: 'https://shop.example/approve', identifyBrowser });
 * await serveHttp(served, { pages: [page] });
 *
 * // In a journaled handler:
 * const sure = await page.question(ctx.request, words`Pay ${amount} to ${payee}?`, { approve: 'Pay', refuse: 'Do not pay' });
 * const { receipt } = await ctx.ask('sure', sure);
 */
export function approvalPage(options: ApprovalPageOptions): ApprovalPage {
  requireOptions<ApprovalPageOptions>('approvalPage', options, CHECKS);
  const { verify, render = renderApproval, resume, resumeSeconds = 60, ...more } = options;
  const rung = verify ? 'verified-page' : 'page';
  const startPage: StartPage = {
    show: ({ data }, visitor, token) => showApproval({ ...(data as Shown), visitor, token }, render),
    press: (form) => pressOf(form.get('decision'), verify !== undefined),
    valueFrom: (kept) => records.timesOf(kept),
    done: 'Approved. You can close this page, and go back to where you came from.',
  };
  const start = (visit: StartVisit) => verify?.start(visit) ?? visit.callbackUrl;
  const { records, asking, path, fetch, inOwnScope } = makePages(
    { ...more, start, finish: (visit) => requireProof(verify, visit) },
    startPage,
    // An approval of a page that had no second proof is none of a page that has it.
    ` ${rung}`,
  );

  const subjectOf = (words: Words, wanted: ApprovalQuestionOptions, isForm: boolean): Subject<Approval> => ({
    message: words.text,
    data: requireShown(words, wanted),
    ...(wanted.name !== undefined && { name: wanted.name }),
    ask: isForm ? askInForm : urlElicitation,
    valueFrom: (decided, response) => approvalOf(response, words.text, rung, decided as Times),
    noteRefusal,
  });

  const question: ApprovalPage['question'] = async (ctx, words, wanted) => {
    const { by, name = '' } = wanted;
    if (by === 'client') return approvalInForm(words, wanted);
    const [opensPages, showsForms] = [canAsk(ctx, 'elicitation.url'), canAsk(ctx, 'elicitation')];
    const subject = subjectOf(words, wanted, showsForms && !opensPages);
    if (!resume) return asking.ask(ctx, subject);
    const call = callOf(ctx);
    const about = [words.text, canonicalJson(subject.data), name];
    const wasAsked = (id: string) => asking.wasAsked(call, subject, id);
    const same = await SameCall.find({ records, call, about, seconds: resumeSeconds, wasAsked });
    const url = asking.pageOf(same.id);
    const refuse = (): never => {
      throw new ApprovalPending(pendingMessage(words.text, url, resumeSeconds));
    };
    if (opensPages || showsForms) return asking.ask(ctx, { ...subject, id: same.id, refuse });
    const decided = await same.take();
    if (decided === undefined) {
      await same.begin({ message: words.text, data: subject.data });
      return refuse();
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
      requireOptions<ApprovalQuestionOptions>('question', wanted, QUESTION_CHECKS);
      return inOwnScope(() => question(ctx, words, wanted));
    },
    ask: (ctx, key, words, wanted) => {
      requireOptions<ApprovalQuestionOptions>('ask', wanted, QUESTION_CHECKS);
      if (wanted.by === 'client') return ctx.ask(key, approvalInForm(words, wanted));
      const isForm = !ctx.canAsk('elicitation.url') && ctx.canAsk('elicitation');
      return asking.waitFor(ctx, key, subjectOf(words, wanted, isForm));
    },
    fetch,
  };
}

async function requireProof(verify: StepUp | undefined, visit: CallbackVisit): Promise<true> {
  if ((await verify?.finish(visit)) === true) return true;
  throw new Error('The second proof of an approval did not hold. Nothing was approved.');
}

/** What a press on one of the two buttons does. */
function pressOf(decision: string | null, isVerified: boolean): Press {
  if (decision === 'refuse') return 'refuse';
  if (decision !== 'approve') return undefined;
  return isVerified ? 'go-on' : 'finish';
}

/** What was decided, for a client that cannot be asked, or that was asked while it said that it opens URLs. */
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
    // An answer that a shape kept has no stamp. It was read before, and the store knows under which key.
    const stamp = stampOf(response);
    if (stamp) requireFallbackKey(stamp.key);
    return { kind: 'accepted', value };
  },
});

const approvalInForm = (words: Words, { approve, refuse }: ApprovalQuestionOptions): Question<Approval> =>
  approval(words, { approve, refuse });

/** For a client that shows forms only. What the page gave counts, so the form needs no field. */
const askInForm = (text: string, url: URL): Question =>
  elicitation(`${text}\n\nDecide on this page: ${url}\nThen accept this.`, {
    type: 'object',
    properties: {},
  });

/** The answer of somebody who approved on the page. */
function approvalOf(response: unknown, words: string, rung: Rung, { askedAt, decidedAt }: Times): Approval {
  const { value } = approvedAnswer(requireStamp(response), words, rung, { askedAt, answeredAt: decidedAt });
  return value;
}

const noteRefusal = (response: unknown, how: 'refused' | 'declined' | 'cancelled'): void => {
  const stamp = stampOf(response);
  if (stamp) refusedAnswer(stamp, how);
};

/** What the page shows, as it is kept. @throws InvalidOption for what is no text, or is too long. */
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

/** Whether the page can show all of them: a Map, or a class with getters, has some that it would not. */
function areDetails(details: unknown): boolean {
  if (typeof details !== 'object' || details === null) return false;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(details))) return false;
  const isText = (value: unknown) =>
    Number.isFinite(value) || typeof value === 'string' || typeof value === 'boolean';
  const names = Object.keys(details);
  if (names.length < Reflect.ownKeys(details).length || names.some((name) => name.trim() === ''))
    return false;
  return Object.values(details).every(isText);
}

const pendingMessage = (words: string, url: URL, seconds: number): string =>
  `Nothing was done. ${words} A person has to decide that on this page: ${url} Afterwards, call this again with the same ` +
  `arguments, within ${seconds} seconds of the approval.`;
