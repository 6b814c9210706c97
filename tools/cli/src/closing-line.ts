/** The line below a drawing, with the numbers of the conversation. */
import { eventsOf, type Transcript, tally } from '@mrtr/harness/transcript';

/** The effect that a tool must have once per call; undefined for a demo without one. */
export type CountedEffect = 'audit' | 'write' | undefined;

/**
 * `2 rounds · handler entered 2× · audit written 1× · nothing held between rounds`. For a tool in parts, it counts the
 * acting part: steps and resolvers may run in any round.
 */
export function closingLine(transcript: Transcript, effect: CountedEffect): string {
  const { rounds, entries, effects, framesHeld, liveAsks } = tally(transcript);
  const written = effect && `${effect === 'audit' ? 'audit' : 'item'} written ${effects[effect] ?? 0}×`;
  return [
    plural(rounds, 'round'),
    `${actingPart(transcript)} ${entries}×`,
    ...(written ? [written] : []),
    describeHeld(framesHeld, liveAsks),
  ].join(' · ');
}

function actingPart({ events }: Transcript): string {
  const parts = new Set(eventsOf('entry', events).map(({ part }) => part));
  if (parts.has('step') || parts.has('end')) return 'end step run';
  return parts.has('resolver') || parts.has('body') ? 'body run' : 'handler entered';
}

function describeHeld(frames: number, liveAsks: number): string {
  const frame = plural(frames, 'frame');
  if (liveAsks > 0) return frames > 0 ? `a stream and ${frame} held open` : 'a stream held open';
  return `${frames > 0 ? frame : 'nothing'} held between rounds`;
}

export const plural = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;
