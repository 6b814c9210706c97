/** A conversation as rows: what the lanes draw, and how two conversations stand beside each other. */
import {
  CLIENT,
  type LinesRun,
  objectIn,
  type Participant,
  PERSON,
  replyText,
  type TranscriptEvent,
  type WireMessage,
  WORLD,
} from '@mrtr/harness/transcript';
import type { Conversation } from '../../../src/protocol.ts';
import { messageText } from './wording.ts';

/** How near one looks. */
export type Zoom = 'call' | 'rounds' | 'wire';

/** One drawn event. */
export interface Row {
  /** Its place among the transcript's events. */
  readonly at: number;
  readonly event: TranscriptEvent;
  readonly text: string;
  /** Lanes that it goes from and to; the same one for what happens inside. */
  readonly from: string;
  readonly to: string;
  /** What makes it the same as a row of the other side. */
  readonly sign: string;
  /** Set where something happened that should not. */
  readonly bad: boolean;
  /** The round of the call, from 1. */
  readonly round: number;
  /** Set for the messages of a client. */
  readonly isSent: boolean;
}

const CALLS: readonly unknown[] = ['tools/call', 'prompts/get', 'resources/read'];

/** A page without its query, which holds ids that differ from run to run. */
const pathOf = (url: string): string => url.replace(/[?#].*$/s, '');

/** Whether a message is a request of the call. */
export const isCall = ({ method }: WireMessage): boolean => CALLS.includes(method);

/** Notifications are not drawn. A check records requests without their ids. */
const isQuiet = ({ method }: WireMessage): boolean =>
  typeof method === 'string' && method.startsWith('notifications/');

const hasFailed = (message: WireMessage): boolean =>
  message.error !== undefined || objectIn(message, 'result').isError === true;

/** Those who send such requests: the client, and in a check a second one. */
const clientsIn = (participants: readonly Participant[]): ReadonlySet<string> =>
  new Set([CLIENT, ...participants.filter(({ kind }) => kind === 'client').map(({ id }) => id)]);

/** The rows of a conversation. */
export function rowsOf({
  events,
  participants,
}: Pick<Conversation, 'events' | 'participants'>): readonly Row[] {
  const servers = participants.filter(({ kind }) => kind === 'instance').map(({ id }) => id);
  const clients = clientsIn(participants);
  const seen = new Map<string, number>();
  let round = 0;
  let entries = 0;
  const nth = (name: string) => {
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return seen.get(name) ?? 1;
  };
  const rowsFor = (event: TranscriptEvent, at: number): readonly Row[] => {
    const isSent = event.kind === 'message' && clients.has(event.from);
    const row = (from: string, to: string, text: string, sign: string, bad = false): Row[] => [
      { at, event, text, from, to, sign: `${event.kind} ${sign}`, bad, round, isSent },
    ];
    switch (event.kind) {
      case 'message': {
        if (isSent && isCall(event.message) && !event.altered && !event.again) round++;
        if (isQuiet(event.message)) return [];
        const to = event.to ?? (isSent ? (servers[0] ?? 'server') : CLIENT);
        const text = messageText(event.message);
        const sign = `${isSent} ${event.lost} ${event.altered} ${event.again} ${text.replace(/\d+ B/, '')}`;
        return row(event.from, to, text, sign, hasFailed(event.message) || event.altered === true);
      }
      case 'question':
        return row(CLIENT, PERSON, event.message, event.message);
      case 'answer':
        return row(PERSON, CLIENT, replyText(event.reply), replyText(event.reply));
      case 'visit':
        return row(
          PERSON,
          PERSON,
          `${event.status} ${pathOf(event.url)}`,
          `${event.status}`,
          event.status >= 400,
        );
      case 'model':
        return row(CLIENT, CLIENT, 'the model answers', 'model');
      case 'roots':
        return row(CLIENT, CLIENT, 'lists its roots', 'roots');
      case 'entry': {
        entries++;
        const part = event.part === 'handler' ? '' : ` ${event.part}${event.name ? ` ${event.name}` : ''}`;
        return row(event.instance, event.instance, `entry ${entries}${part}`, `${round}`);
      }
      case 'lines':
        return [];
      case 'guard': {
        const text = `once ${event.key}: ${event.phase === 'ran' ? 'runs' : 'held back'}`;
        return row(event.instance, event.instance, text, text);
      }
      case 'effect': {
        const again = nth(`${event.name} ${event.detail}`);
        const text = `${event.name} ${event.detail}${again > 1 ? ` · ${again}nd`.replace('3nd', '3rd') : ''}`;
        return row(event.instance, WORLD, text, `${event.name} ${event.detail} ${again}`, again > 1);
      }
      case 'state': {
        const size = event.phase === 'rejected' ? `: ${event.reason ?? ''}` : ` ${event.bytes} B`;
        const bad = event.phase === 'rejected';
        return row(event.instance, event.instance, `state ${event.phase}${size}`, event.phase, bad);
      }
      case 'kill':
        return row(event.instance, event.instance, 'killed', 'kill', true);
      case 'restart':
        return row(event.instance, event.instance, restartText(event), restartText(event));
    }
  };
  return events.flatMap(rowsFor);
}

/** In fewer words than elsewhere: it stands beside the instance's lane. */
const restartText = ({ deployed }: { readonly deployed?: string }): string =>
  deployed === undefined ? 'restarted' : `deploy: ${deployed}`;

/** The rows that a zoom shows. */
export function rowsAt(rows: readonly Row[], zoom: Zoom): readonly Row[] {
  if (zoom === 'rounds') return rows;
  if (zoom === 'wire') return rows.filter(({ event }) => event.kind === 'message');
  const messages = rows.filter(({ event }) => event.kind === 'message' && !event.again);
  const first = messages.find(({ isSent }) => isSent);
  const last = messages.findLast(
    ({ event, isSent }) => !isSent && event.kind === 'message' && event.to !== undefined,
  );
  return rows.filter(
    (row) =>
      row === first ||
      (row === last && row !== first) ||
      ['question', 'answer', 'effect', 'kill'].includes(row.event.kind) ||
      isDeploy(row.event),
  );
}

/** Whether an instance was replaced by one of another version of the code. */
export const isDeploy = (event: TranscriptEvent): boolean =>
  event.kind === 'restart' && event.deployed !== undefined;

/** One step of two conversations: a row of each, or of one alone. */
export interface Beat {
  readonly left?: Row | undefined;
  readonly right?: Row | undefined;
}

/** Lays two conversations beside each other: equal rows in one beat, by their longest common subsequence. */
export function align(left: readonly Row[], right: readonly Row[]): readonly Beat[] {
  const best = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  const at = (one: number, other: number) => best[one]?.[other] ?? 0;
  for (let one = left.length - 1; one >= 0; one--) {
    for (let other = right.length - 1; other >= 0; other--) {
      (best[one] as number[])[other] =
        left[one]?.sign === right[other]?.sign
          ? at(one + 1, other + 1) + 1
          : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const beats: Beat[] = [];
  let [one, other] = [0, 0];
  while (one < left.length || other < right.length) {
    const [here, there] = [left[one], right[other]];
    if (here && there && here.sign === there.sign) {
      beats.push({ left: here, right: there });
      one++;
      other++;
    } else if (here && (!there || at(one + 1, other) >= at(one, other + 1))) {
      beats.push({ left: here });
      one++;
    } else {
      beats.push({ right: there });
      other++;
    }
  }
  return beats;
}

/** The lanes, from left to right. */
export function lanesOf(conversation: Conversation, zoom: Zoom): readonly Participant[] {
  const order = ['person', 'client', 'instance', 'store', 'world'];
  const all = conversation.participants.filter(
    ({ kind }) => zoom !== 'wire' || !['person', 'world'].includes(kind),
  );
  return [...all].sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
}

/** What ran up to an event: in the stretch that it belongs to, and before that. */
export interface Ran {
  readonly now: LinesRun;
  readonly before: readonly LinesRun[];
}

/** The lines that had run, or were running, when event `at` happened. */
export function ranAt(events: readonly TranscriptEvent[], at: number): Ran {
  const stretches = events.flatMap((event, end) =>
    event.kind === 'lines' ? [{ end, files: event.files }] : [],
  );
  const current = stretches.find(({ end }) => end > at);
  const before = stretches.filter(({ end }) => end <= at).map(({ files }) => files);
  // Before the server has got the request, nothing of the next stretch runs. A later part of the handler has an entry.
  const begun = events
    .slice((stretches.findLast(({ end }) => end <= at)?.end ?? -1) + 1, at + 1)
    .some((event) => event.kind === 'entry' || (event.kind === 'message' && event.from === CLIENT));
  return { now: (begun && current?.files) || {}, before };
}
