/** Two views by which transcripts are compared, and the differences that do not count. */
import { CLIENT, type Transcript, type WireMessage } from './transcript.ts';
import { type JsonObject, objectIn } from './wording.ts';

/** The fields that are masked in wire messages before a comparison. Those without a mask are left out. */
const MASKED: readonly { readonly path: readonly string[]; readonly mask?: string }[] = [
  // The sender chooses ids; a retry must have a new one, and a cancellation names the id of its request.
  { path: ['id'], mask: '<id>' },
  { path: ['params', 'requestId'], mask: '<id>' },
  // The sender chooses a token for each request, and progress echoes it.
  { path: ['params', '_meta', 'progressToken'], mask: '<token>' },
  { path: ['params', 'progressToken'], mask: '<token>' },
  // Opaque to clients. Whether a shape needs any is the one difference that is allowed.
  { path: ['params', 'requestState'] },
  { path: ['result', 'requestState'] },
  // The clock.
  { path: ['params', '_meta', 'timestamp'], mask: '<time>' },
];

/**
 * The host application's view: the questions, the answers, and the end. Servers of different shapes that behave alike have
 * equal views.
 */
export function hostView({ events, end }: Pick<Transcript, 'events' | 'end'>): string[] {
  const questions = new Map<number, unknown>();
  const seen = events.flatMap((event) => {
    switch (event.kind) {
      case 'question':
        questions.set(event.id, { message: event.message, requestedSchema: event.schema });
        return [];
      case 'answer':
        return [`asked ${canonical(questions.get(event.id))}`, `reply ${canonical(event.reply)}`];
      case 'model':
        return [`prompted ${canonical(event.params)}`, `said ${canonical(event.result)}`];
      case 'roots':
        return [`roots ${canonical(event.roots)}`];
      default:
        return [];
    }
  });
  return [...seen, end.error ? `error ${end.error.message}` : `result ${canonical(end.result)}`];
}

/** The messages of the call, comparable: ids, progress tokens and times are masked, and request state is left out. */
export const wireView = ({ events }: Pick<Transcript, 'events'>): string[] =>
  events.flatMap((event) =>
    event.kind === 'message' && !event.lost
      ? [`${event.from === CLIENT ? 'client' : 'server'} ${canonical(mask(event.message))}`]
      : [],
  );

function mask(message: WireMessage) {
  const copy = structuredClone(message);
  for (const { path, mask } of MASKED) {
    const parent: Record<string, unknown> = path.slice(0, -1).reduce<JsonObject>(objectIn, copy);
    const field = path.at(-1) as string;
    if (!(field in parent)) continue;
    if (mask === undefined) delete parent[field];
    else parent[field] = mask;
  }
  return copy;
}

/** One line of JSON with sorted keys, so that equal values read equal. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  ) ?? 'null';
