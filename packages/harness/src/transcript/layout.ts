/** The layout of a conversation for every drawing: its lanes, its rows, and its open requests and parked handlers. */
import {
  CLIENT,
  type Message,
  type Participant,
  PERSON,
  type Transcript,
  type TranscriptEvent,
  type WireMessage,
  WORLD,
} from './transcript.ts';
import {
  addressText,
  contentText,
  isQuestion,
  messageText,
  objectIn,
  replyText,
  restartText,
} from './wording.ts';

/** The colour of a row. `error` is a broken promise; `refused` is a refusal that worked. */
type Tone = 'request' | 'question' | 'user' | 'entry' | 'effect' | 'result' | 'error' | 'refused' | 'quiet';

/** One drawn event. */
export interface Row {
  readonly at: number;
  readonly event: TranscriptEvent;
  readonly text: string;
  readonly tone: Tone;
  /** The lanes that it goes from and to. The same lane for an event inside it. */
  readonly from: string;
  readonly to: string;
  /** The round of the call, from 1. */
  readonly round: number;
  /** Whether it is a message of a client. */
  readonly isSent: boolean;
  /** Whether the server has an open request after it. */
  readonly isOpen: boolean;
  /** The instances with a handler parked in memory after it, once per handler. */
  readonly held: readonly string[];
}

type Drawn = Pick<Row, 'text' | 'tone' | 'from' | 'to'>;

const CALLS: readonly unknown[] = ['tools/call', 'prompts/get', 'resources/read'];

/** Whether a message is a request of the call. */
export const isCall = ({ method }: WireMessage): boolean => CALLS.includes(method);

const LANES = ['person', 'client', 'instance', 'store', 'world'] satisfies Participant['kind'][];

/** The lanes, from left to right. */
export const lanesOf = ({ participants }: Pick<Transcript, 'participants'>): readonly Participant[] =>
  [...participants].sort((one, other) => LANES.indexOf(one.kind) - LANES.indexOf(other.kind));

/** Lays out one event after another, even while the conversation runs. */
export class Layout {
  readonly #clients: ReadonlySet<string>;
  readonly #server: string;
  readonly #hasWorld: boolean;
  /** The unanswered requests: `client:1` is one of the client. */
  readonly #open = new Set<string>();
  readonly #effects = new Set<string>();
  /** The instances that asked, once per open question, including those of {@link Row.held}. */
  #asking: readonly string[] = [];
  #held: readonly string[] = [];
  /** The instances that rejected the state of the request that they serve. */
  readonly #rejecting = new Set<string>();
  /** Whether an attacker wrote the latest request. */
  #isForged = false;
  /** Whether a program, and not a person, has answered every question so far. */
  #isUnattended: boolean;
  /** Whether the latest answer was a decline or a cancellation. */
  #isDeclined = false;
  #at = 0;
  #round = 0;
  #entries = 0;
  #isPage = false;

  constructor(participants: readonly Participant[] = []) {
    const idsOf = (kind: Participant['kind']) =>
      participants.filter((one) => one.kind === kind).map(({ id }) => id);
    this.#clients = new Set([CLIENT, ...idsOf('client')]);
    this.#server = idsOf('instance')[0] ?? 'server';
    this.#hasWorld = idsOf('world').includes(WORLD);
    this.#isUnattended = participants.some((one) => one.kind === 'person' && one.isAgent);
  }

  /** The row of the next event; undefined for an event that is not drawn. */
  next(event: TranscriptEvent): Row | undefined {
    const at = this.#at++;
    const isSent = event.kind === 'message' && this.#clients.has(event.from);
    const drawn = event.kind === 'message' ? this.#message(event, isSent) : this.#draw(event);
    if ('framesHeld' in event) {
      // The server asks an old client by a request, and its handler waits for the answer.
      const live = [...this.#open].filter((one) => one.startsWith('server:')).length;
      const frames = Math.max(event.framesHeld, live);
      this.#held = frames === 0 ? [] : this.#asking.slice(-frames);
    }
    const [isOpen, held] = [this.#open.size > 0, this.#held];
    return drawn && { at, event, ...drawn, round: this.#round, isSent, isOpen, held };
  }

  /** An instance resumes the handler that it parked last, or loses all of them. */
  #resume(instance: string, isGone: boolean) {
    const without = (lanes: readonly string[]) => {
      const last = lanes.lastIndexOf(instance);
      return lanes.filter((lane, at) => (isGone ? lane !== instance : at !== last));
    };
    [this.#asking, this.#held] = [without(this.#asking), without(this.#held)];
  }

  #draw(event: Exclude<TranscriptEvent, Message>): Drawn | undefined {
    const within = (lane: string, tone: Tone, text: string): Drawn => ({ from: lane, to: lane, tone, text });
    switch (event.kind) {
      case 'question':
        this.#isPage = event.url !== undefined;
        return { from: CLIENT, to: PERSON, tone: 'question', text: event.message };
      case 'answer':
        this.#isDeclined = event.reply !== 'silence' && event.reply.action !== 'accept';
        return { from: PERSON, to: CLIENT, tone: 'user', text: replyText(event.reply, this.#isPage) };
      case 'visit':
        this.#isUnattended = false;
        return within(PERSON, 'quiet', `browser: ${addressText(event.url)} → ${event.status}`);
      case 'model':
        return within(CLIENT, 'user', `the model: ${contentText(event.result.content)}`);
      case 'roots': {
        const names = event.roots.map(({ name, uri }) => name ?? uri);
        return within(CLIENT, 'user', `roots: ${names.join(', ') || 'none'}`);
      }
      case 'entry': {
        const { instance, part, name = '' } = event;
        const words = part === 'handler' ? `entry ${++this.#entries}` : PARTS[part](name);
        return within(instance, 'entry', words);
      }
      case 'lines':
        return undefined;
      case 'guard': {
        const { instance, key, phase } = event;
        return within(instance, 'effect', `effect ${key}: ${phase === 'ran' ? 'runs' : 'skipped'}`);
      }
      case 'effect': {
        const to = this.#hasWorld ? WORLD : event.instance;
        return { ...this.#effect(event), from: event.instance, to };
      }
      case 'state': {
        const { instance, phase, bytes, reason } = event;
        if (phase !== 'rejected') return within(instance, 'quiet', `state ${phase}, ${bytes} B`);
        this.#rejecting.add(instance);
        return within(instance, 'refused', `⊘ state rejected${reason === undefined ? '' : `: ${reason}`}`);
      }
      case 'kill':
      case 'restart':
        // The old process has lost its running and parked handlers.
        this.#resume(event.instance, true);
        return within(event.instance, 'quiet', event.kind === 'kill' ? '☠ killed' : restartText(event));
    }
  }

  /** Marks an effect that a call had twice, or that nobody agreed to. This project exists to prevent both. */
  #effect({
    name,
    detail,
    again,
  }: Extract<TranscriptEvent, { kind: 'effect' }>): Pick<Drawn, 'text' | 'tone'> {
    const text = `${name}: ${detail}`;
    const isAgain = again || this.#effects.has(text);
    this.#effects.add(text);
    if (isAgain) return { text: `${text} — AGAIN`, tone: 'error' };
    const why = this.#isForged || this.#isUnattended ? 'NOBODY AGREED' : this.#isDeclined && 'DECLINED';
    // An audit entry needs no consent.
    return why && name !== 'audit' ? { text: `${text} — ${why}`, tone: 'error' } : { text, tone: 'effect' };
  }

  #message(event: Message, isSent: boolean): Drawn | undefined {
    const { message, lost } = event;
    const { method, id } = message;
    if (isSent && isCall(message) && !lost && !event.again) this.#round++;
    if (typeof method === 'string' && method.startsWith('notifications/')) return undefined;
    const [own, other] = isSent ? ['client', 'server'] : ['server', 'client'];
    if (method === undefined) this.#open.delete(`${other}:${id}`);
    else if (!isSent || !lost) this.#open.add(`${own}:${id}`);
    if (isSent && event.to !== undefined && !lost) this.#receive(event.to, event.altered === true);
    if (!isSent && asks(message)) this.#asking = [...this.#asking, event.from];
    const isRefused =
      !isSent && hasFailed(message) && (this.#rejecting.has(event.from) || this.#isUnattended);
    const words = fateOf(event) + messageText(message, isSent);
    return {
      from: event.from,
      to: event.to ?? (isSent ? this.#server : CLIENT),
      tone: isRefused ? 'refused' : toneOf(message, isSent),
      text: isRefused ? words.replace('✗', '⊘') : words,
    };
  }

  #receive(instance: string, isForged: boolean) {
    this.#resume(instance, false);
    this.#rejecting.delete(instance);
    this.#isForged = isForged;
  }
}

/** A prefix for a message that was altered, repeated or lost on its way. */
function fateOf({ replaced, altered, again, lost }: Message) {
  if (replaced) return 'kept back: ';
  if (altered) return 'sent in its place: ';
  if (again) return 'delivered again: ';
  return lost ? 'lost: ' : '';
}

/** The texts of the parts of a handler, when they run. */
const PARTS = {
  step: (name: string) => `step ${name}`,
  resolver: (name: string) => `resolver ${name}`,
  end: () => 'end step',
  body: () => 'body',
} as const;

const hasFailed = (message: WireMessage) =>
  message.error !== undefined || objectIn(message, 'result').isError === true;

function toneOf(message: WireMessage, isSent: boolean) {
  if (hasFailed(message)) return 'error';
  if (isSent) return 'request';
  return asks(message) ? 'question' : 'result';
}

export const asks = (message: WireMessage): boolean =>
  isQuestion(message) || objectIn(message, 'result').resultType === 'input_required';

/** The rows of a whole conversation. */
export function rowsOf(conversation: Pick<Transcript, 'events' | 'participants'>): readonly Row[] {
  const layout = new Layout(conversation.participants);
  return conversation.events.flatMap((event) => layout.next(event) ?? []);
}

/** A state of a lane: its person thinks, or its instance works, has a parked handler, is dead, or is new. */
interface Span {
  readonly kind: 'waits' | 'works' | 'parked' | 'dead' | 'next';
  /** Indices of rows. Without `to`, the state lasts. */
  readonly from: number;
  readonly to?: number;
}

/** The spans of a lane in these rows. At an index without a row, nothing happened in it. */
export function spansOf(lane: Participant, rows: readonly (Row | undefined)[]): readonly Span[] {
  const spans: Span[] = [];
  const open = new Map<Span['kind'], number>();
  const begin = (kind: Span['kind'], at: number) => open.has(kind) || open.set(kind, at);
  const end = (to: number, ...kinds: readonly Span['kind'][]) => {
    for (const kind of kinds) {
      const from = open.get(kind);
      if (from !== undefined) spans.push({ kind, from, to });
      open.delete(kind);
    }
  };
  for (const [at, row] of rows.entries()) {
    if (!row) continue;
    const { event, from, to, isSent } = row;
    if (lane.kind === 'person') {
      if (event.kind === 'question') begin('waits', at);
      if (event.kind === 'answer') end(at, 'waits');
    }
    if (lane.kind !== 'instance') continue;
    if (row.held.includes(lane.id)) begin('parked', at - 1);
    else end(at, 'parked');
    if (event.kind === 'message' && isSent && to === lane.id && !event.lost) begin('works', at);
    if (from !== lane.id) continue;
    if (event.kind === 'message' && event.message.method === undefined) end(at, 'works');
    if (event.kind === 'kill') {
      end(at, 'works');
      begin('dead', at);
    }
    if (event.kind === 'restart') {
      end(at, 'works', 'dead');
      if (event.deployed !== undefined) begin('next', at);
    }
  }
  return [...spans, ...[...open].map(([kind, from]) => ({ kind, from }))];
}
