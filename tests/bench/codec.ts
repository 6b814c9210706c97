/** The cost of sealing and opening a state. */

import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { Units } from '@mrtr/comparison';
import { elicitation } from '@mrtr/core';
import { type Binding, openState, sealState } from '@mrtr/core/internal';
import { keyRing } from '@mrtr/core/seal';
import { type Benchmark, type Figure, ratioFigure } from './figures.ts';
import { type Pace, race } from './race.ts';

const SECRET = randomBytes(32);

/** The goals for states of these sizes. */
const GOALS = { 100: 0.08, 8192: 0.25 };

/** A state of about `bytes` bytes of JSON, with recorded answers like those of the shapes. */
function stateOf(bytes: number): { readonly answers: readonly object[] } {
  const answers: object[] = [];
  const state = { s: 'bench/1', answers };
  while (JSON.stringify(state).length < bytes - 40)
    answers.push({ action: 'accept', content: { units: 'metric' } });
  return { ...state, ...{ pad: 'x'.repeat(Math.max(0, bytes - JSON.stringify(state).length - 9)) } };
}

const binding: Binding = {
  method: 'tools/call',
  target: 'get_weather',
  arguments: { location: 'Tokyo' },
  audience: 'bench',
  principal: undefined,
};

/** The context for a `bind` callback. */
const ctx = { mcpReq: { method: 'tools/call' } } as unknown as ServerContext;
const bound = createRequestStateCodec<object>({
  key: SECRET,
  bind: ({ mcpReq }) => `${mcpReq.method} get_weather {"location":"Tokyo"}`,
});
const ring = keyRing([SECRET]);
// Every state is sealed with its question and its call.
const asked = new Map([['units', elicitation('Which units?', Units).digest]]);
const callId = randomBytes(16).toString('base64url');

/** The work without a seal: serialise a value, and parse it. */
function ours(state: object): number {
  const sealed = {
    callId,
    round: 1,
    asked,
    timesAsked: new Map(),
    timesUnfit: new Map(),
    hasGivenUp: false,
    payload: JSON.stringify(state),
    version: undefined,
  };
  const seal = { binding, issuedAt: Date.now(), ttlSeconds: 600 };
  const token = sealState(sealed, seal, ring[0]);
  // A new binding, as in another request.
  const opened = openState(token, { ...binding }, Date.now(), ring);
  if ('rejected' in opened) throw new Error(opened.rejected.detail);
  JSON.parse(opened.payload ?? '');
  return token.length;
}

const sdk = async (state: object) => bound.verify(await bound.mint(state, ctx), ctx);

async function measure(bytes: number, goal: number, pace: Pace): Promise<readonly Figure[]> {
  const state = stateOf(bytes);
  const contestants = [
    { name: 'sdk', run: () => sdk(state) },
    { name: 'ours', run: () => ours(state) },
  ];
  const result = await race(contestants, pace);
  const signed = (await bound.mint(state, ctx)).length;
  return [
    ratioFigure(`${bytes} B ÷ SDK codec with bind`, result, 'ours', 'sdk', goal),
    { what: `${bytes} B, token ÷ SDK's signed one`, unit: '×', value: ours(state) / signed },
    { what: `${bytes} B, ours`, unit: 'µs', value: result.median('ours') },
  ];
}

export const codec: Benchmark = {
  name: 'codec',
  title: 'Sealing a state and opening it again',
  async run(pace) {
    const figures: Figure[] = [];
    for (const [bytes, goal] of Object.entries(GOALS))
      figures.push(...(await measure(Number(bytes), goal, pace)));
    return figures;
  },
};
