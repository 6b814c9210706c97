/** The cost of sealing a state and opening it again. */
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { elicitation } from '@mrtr/core';
import { type Binding, keyRing, openState, type SealingKey, sealState } from '@mrtr/core/seal';
import { Units } from '@mrtr/example-tools';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { again, type Pace, race, withTwin } from './race.ts';
import { noiseOf } from './statistics.ts';

const SIZES = [100, 8192] as const;
const SECRET = randomBytes(32);

const GOALS: Readonly<Record<number, number>> = { 100: 0.08, 8192: 0.25 };

/** A state of about `bytes` bytes of JSON: recorded answers, as the shapes keep them. */
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

/** The work that every author has to do: serialise a value, and parse it again. */
function ours(state: object): number {
  const sealed = {
    callId,
    round: 1,
    asked,
    timesAsked: new Map(),
    payload: JSON.stringify(state),
    version: undefined,
  };
  const seal = { binding, issuedAt: Date.now(), ttlSeconds: 600 };
  const token = sealState(sealed, seal, ring[0] as SealingKey);
  // A new object, as in another request.
  const opened = openState(token, { ...binding }, Date.now(), ring);
  if ('rejected' in opened) throw new Error(opened.rejected);
  JSON.parse(opened.payload ?? '');
  return token.length;
}

const sdk = async (state: object) => bound.verify(await bound.mint(state, ctx), ctx);

async function ofSize(bytes: number, pace: Pace): Promise<readonly Figure[]> {
  const state = stateOf(bytes);
  const result = await race(
    withTwin([
      { name: 'sdk', run: () => sdk(state) },
      { name: 'ours', run: () => ours(state) },
    ]),
    pace,
  );
  const noise = noiseOf(result.ratio(again('sdk'), 'sdk'));
  const signed = (await bound.mint(state, ctx)).length;
  return [
    ratioFigure(
      `${bytes} B ÷ SDK codec with bind`,
      result.ratio('ours', 'sdk'),
      { most: GOALS[bytes] ?? 1 },
      noise,
    ),
    {
      what: `${bytes} B, token ÷ SDK's signed one`,
      unit: '×',
      value: ours(state) / signed,
    },
    { what: `${bytes} B, ours`, unit: 'µs', value: result.microseconds('ours') },
    { what: `${bytes} B, SDK codec with bind`, unit: 'µs', value: result.microseconds('sdk') },
  ];
}

export const codec: Benchmark = {
  name: 'codec',
  title: 'Sealing a state and opening it again',
  async run({ pace }) {
    const figures: Figure[] = [];
    for (const bytes of SIZES) figures.push(...(await ofSize(bytes, pace)));
    return { figures };
  },
};
