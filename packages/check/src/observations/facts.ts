/** Facts from the honest calls: rounds, states, and how outcomes look. */
import { Likeness } from '../session/likeness.ts';
import type { Session } from '../session/session.ts';
import {
  type Asked,
  comparable,
  comparableQuestions,
  openingOf,
  type ReplyOutcome,
} from '../wire/outcome.ts';
import { formText, isForm, textOfQuestion } from './forms.ts';

export interface Round {
  readonly requests: Asked;
  readonly state: string | undefined;
  readonly likeness: Likeness;
  readonly words: Likeness;
}

export class Facts {
  rounds: readonly Round[] = [];
  /** How each form looks across all honest calls, in the order of the questions. */
  forms: readonly Likeness[] = [];
  /** How each question reads across all honest calls, by its key. */
  readonly texts = new Map<string, Likeness>();
  readonly final = new Likeness();
  /** How the first text of the final result looks. */
  readonly finalOpening = new Likeness();
  /** Whether the server makes new keys for the questions of each call. */
  newKeys = false;
  #calls = 0;

  /** The questions of every round, in order. */
  get questions() {
    return this.rounds.flatMap(({ requests }, round) =>
      Object.entries(requests).map(([key, request]) => ({ round, key, request })),
    );
  }

  requestsIn(round: number) {
    return this.rounds[round]?.requests ?? {};
  }

  /** The first question with this key. */
  requestOf(key: string) {
    return this.questions.find((one) => one.key === key)?.request;
  }

  /** Whether several rounds ask under the same key. */
  get keysRepeat() {
    const keys = this.questions.map(({ key }) => key);
    return new Set(keys).size < keys.length;
  }

  get carriesState() {
    return this.rounds.some(({ state }) => state !== undefined);
  }

  /** Whether an outcome asks the same as a round. Undefined if the honest calls do not tell. */
  asksLike(round: number, outcome: ReplyOutcome) {
    const known = this.rounds[round];
    if (outcome.kind !== 'asked' || !known) return false;
    if (this.newKeys) return known.words.like(comparableQuestions(outcome.requests));
    return known.likeness.like(comparable(outcome));
  }

  /** Whether an outcome is like the end of the honest calls. Undefined if these do not tell. */
  endsLike(outcome: ReplyOutcome) {
    return this.final.like(comparable(outcome));
  }

  keyNow(round: number, key: string, asked: Asked) {
    if (Object.hasOwn(asked, key)) return key;
    const at = Object.keys(this.requestsIn(round)).indexOf(key);
    return Object.keys(asked)[at] ?? key;
  }

  /** Adds a finished honest call. Returns the reason if it cannot serve as one. */
  learn(session: Session, { mayAskNothing = false } = {}) {
    const { questions: asked, last: end } = session;
    if (end?.kind !== 'completed') return describeUnfinished(asked.length, end);
    if (asked.length === 0 && !mayAskNothing)
      return `the operation asked nothing: it ${end}. Give arguments with which it asks.`;
    const forms = asked.flatMap(({ requests }) => Object.values(requests).filter(isForm)).map(formText);
    if (this.#calls === 0) {
      this.forms = forms.map(() => new Likeness());
      this.rounds = asked.map(({ requests, state }) => ({
        ...{ requests, state },
        likeness: new Likeness(),
        words: new Likeness(),
      }));
    }
    for (const [at, text] of forms.entries()) this.forms[at]?.add(text);
    for (const [key, request] of asked.flatMap(({ requests }) => Object.entries(requests))) {
      const known = this.texts.get(key) ?? new Likeness();
      known.add(textOfQuestion(request));
      this.texts.set(key, known);
    }
    if (asked.length !== this.rounds.length)
      return `it asked ${asked.length} times, and ${this.rounds.length} times in the first honest call`;
    for (const [at, { requests, likeness, words }] of this.rounds.entries()) {
      const outcome = asked[at] as (typeof asked)[number];
      likeness.add(comparable(outcome));
      words.add(comparableQuestions(outcome.requests));
      if (Object.keys(outcome.requests).some((key) => !Object.hasOwn(requests, key))) this.newKeys = true;
    }
    this.final.add(comparable(end));
    this.finalOpening.add(openingOf(end));
    this.#calls++;
    return undefined;
  }
}

function describeUnfinished(rounds: number, end: ReplyOutcome | undefined) {
  if (end?.kind === 'asked') return `it still asked after ${rounds} rounds of honest answers (${end})`;
  return `it ended with ${end ?? 'nothing'}`;
}
