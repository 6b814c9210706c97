/** Compares random interleavings of calls with a model of what each call may do. */

import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { textResult } from '@mrtr/core';
import { settle } from '@mrtr/harness/internal';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { accept, decline, Name, requestOf } from '../fixture.test-support.ts';
import { ContinuationStore, linear } from './index.ts';

const TTL_SECONDS = 60;
const [MAX_FRAMES, MAX_FRAMES_PER_PRINCIPAL] = [3, 2];
const QUESTIONS = 3;
const RESPONSES = {
  good: { name: accept({ name: 'Ada' }) },
  bad: { name: accept({ name: '' }) },
  none: {},
  no: { name: decline },
};

type Response = keyof typeof RESPONSES;
type Step =
  | { readonly do: 'start'; readonly pseudonym: string | undefined }
  | { readonly do: 'answer' | 'answer twice'; readonly call: number; readonly response: Response }
  | { readonly do: 'answer late'; readonly call: number }
  | { readonly do: 'wait'; readonly seconds: number };

const call = fc.nat({ max: 4 });
const response = fc.constantFrom<Response>('good', 'good', 'bad', 'none', 'no');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('start' as const), pseudonym: fc.constantFrom(undefined, 'ada', 'eve') }),
    { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const), call, response }) },
    fc.record({ do: fc.constant('answer twice' as const), call, response }),
    fc.record({ do: fc.constant('answer late' as const), call }),
    fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 30, 59, 60) }),
  ),
  { maxLength: 25 },
);

/** The state of a round, as the boundary seals it. */
type Sealed = readonly [state: string | undefined, round: number];

/** The reports of one call's handler, and the expected ones. */
interface Track {
  readonly id: string;
  readonly pseudonym: string | undefined;
  readonly log: string[];
  readonly used: Sealed[];
  state: Sealed | undefined;
  deadline: number;
  answered: number;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('no interleaving of calls runs anything twice, loses a call that is alive, or leaves one behind', async () => {
  await fc.assert(fc.asyncProperty(steps, play), { numRuns: 100 });
});

async function play(all: readonly Step[]): Promise<void> {
  const store = new ContinuationStore({
    ttlSeconds: TTL_SECONDS,
    limits: { frames: MAX_FRAMES, perPrincipal: MAX_FRAMES_PER_PRINCIPAL / MAX_FRAMES },
  });
  const tracks: Track[] = [];
  const callback = linear(
    async ({ track }: { track: Track }, ctx) => {
      track.log.push('entered');
      try {
        for (let n = 1; n <= QUESTIONS; n++) {
          await ctx.elicit('Which name?', Name);
          track.log.push(`answer ${n}`);
        }
        return textResult('done');
      } finally {
        track.log.push('finally');
      }
    },
    { store },
  );
  const send = async (track: Track, sealed?: Sealed, response: Response = 'none'): Promise<string> => {
    const { signal } = new AbortController();
    const [state, before = 0] = sealed ?? [];
    const round = before + 1;
    const mcpReq = { requestState: () => state, inputResponses: RESPONSES[response], signal };
    const result = await callback(
      { track },
      requestOf(
        {
          id: track.id,
          round,
          limits: { rounds: 1000, questions: 32, stateBytes: 65_536 },
          pseudonym: track.pseudonym,
        },
        mcpReq,
      ).ctx,
    );
    if (!('content' in result)) {
      track.state = [(result as InputRequiredResult).requestState, round];
      track.deadline = Date.now() + TTL_SECONDS * 1000;
      return 'asked';
    }
    const [first] = (result as CallToolResult).content;
    return first?.type === 'text' ? first.text : '';
  };
  const alive = (track: Track | undefined): track is Track & { state: Sealed } =>
    track?.state !== undefined && track.deadline > Date.now();
  /** Sends the call's latest state, which is then used up, and checks the response. */
  const answer = async (track: Track, response: Response, times: number): Promise<void> => {
    const { state } = track;
    if (state === undefined) return;
    const expected = alive(track) ? outcomeOf(track, response) : 'lost';
    track.used.push(state);
    track.state = undefined;
    const outcomes = await Promise.all(Array.from({ length: times }, () => send(track, state, response)));
    const lost = outcomes.filter((text) => text.startsWith('This call cannot be resumed here'));
    expect(lost).toHaveLength(expected === 'lost' ? times : times - 1);
    if (expected !== 'lost') expect(outcomes).toContain(expected);
  };
  for (const step of all) {
    const track = 'call' in step ? tracks[step.call] : undefined;
    if (step.do === 'start') {
      const { pseudonym } = step;
      const id = `call ${tracks.length}`;
      const started: Track = { id, pseudonym, log: [], used: [], state: undefined, deadline: 0, answered: 0 };
      const open = tracks.filter(alive);
      const own = open.filter((track) => track.pseudonym === pseudonym).length;
      const outcome = await send(started);
      if (open.length === MAX_FRAMES)
        expect(outcome).toMatch(/^This server has too many unanswered calls open/);
      else if (pseudonym !== undefined && own === MAX_FRAMES_PER_PRINCIPAL)
        expect(outcome).toMatch(/^You have too many unanswered calls open/);
      else {
        expect(outcome).toBe('asked');
        tracks.push(started);
      }
      expect(started.log).toHaveLength(tracks.includes(started) ? 1 : 0);
    } else if (step.do === 'wait') vi.advanceTimersByTime(step.seconds * 1000);
    else if (track && step.do === 'answer late') {
      for (const state of track.used)
        expect(await send(track, state, 'good')).toMatch(/^This call cannot be resumed/);
    } else if (track && step.do !== 'answer late')
      await answer(track, step.response, step.do === 'answer' ? 1 : 2);
    await settle(2);
    expect(store.parked).toBe(tracks.filter(alive).length);
  }
  await store.close();
  expect(store.parked).toBe(0);
  for (const { log, answered } of tracks) {
    const answers = Array.from({ length: answered }, (_, n) => `answer ${n + 1}`);
    expect(log).toEqual(['entered', ...answers, 'finally']);
  }
}

/** The expected effect of `response` on a live call. Counts its answers. */
function outcomeOf(track: Track, response: Response): string {
  if (response === 'no') return "Cancelled: the question 'name' was not answered.";
  if (response === 'good') track.answered++;
  return track.answered === QUESTIONS ? 'done' : 'asked';
}
