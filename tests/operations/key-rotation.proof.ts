/** No call is lost while the keys of three instances are rotated, one instance at a time. */

import { createWorld, GET_WEATHER, RESOLVE_WORK_ITEM, type World } from '@mrtr/comparison';
import type { LoadedOption } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { InProcess, type Posted } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { IN_MEMORY, oneForEachWay, sealsState } from '../testkit/options.ts';
import { REJECTED } from '../testkit/rejected.ts';

const [FIRST, SECOND] = ['first'.repeat(8), 'second'.repeat(8)];
/** The lists of keys, in order. Before the last one, every call under the first key has ended or expired. */
const [BEFORE, ADDED, IN_FRONT, AFTER] = [[FIRST], [FIRST, SECOND], [SECOND, FIRST], [SECOND]] as const;
type Keys = readonly string[];

// The tests decide when the instances read their keys.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const holdsFrames = ({ claims }: LoadedOption) => claims.modern.framesHeld === 1;

/** One instance of a deployment, which reads its keys at intervals. */
async function instanceOf(option: LoadedOption, world: World) {
  let keys: Keys = BEFORE;
  const policy = await requestStatePolicy({ keys: () => keys, keysSeconds: 60 });
  const running = option.create({ world, policy });
  const face = new InProcess(() => running.server());
  onTestFinished(async () => {
    await face.close();
    await running.close();
  });
  const roll = async (next: Keys) => {
    keys = next;
    await vi.advanceTimersByTimeAsync(60_000);
  };
  return { face, roll };
}

const accept = (field: string, value: unknown) => ({
  [field]: { action: 'accept', content: { [field]: value } },
});

/** A user's answers, and the expected result. */
const SCRIPTS = {
  [GET_WEATHER]: {
    args: { location: 'Tokyo' },
    answers: [accept('units', 'metric')],
    says: 'Weather in Tokyo: 22°C, partly cloudy.',
  },
  [RESOLVE_WORK_ITEM]: {
    args: { id: 4522, state: 'Resolved' },
    answers: [accept('resolution', 'Duplicate'), accept('original', '4301')],
    says: '#4522 resolved as Duplicate of #4301.',
  },
} as const;
type Tool = keyof typeof SCRIPTS;

/** Three instances, and a function that begins a call on them. Its user waits for `goOn` before each answer. */
async function fleetOf(option: LoadedOption) {
  const world = createWorld();
  const instances = await Promise.all([1, 2, 3].map(() => instanceOf(option, world)));
  let requests = 0;
  const next = () => (instances[requests++ % instances.length] as (typeof instances)[number]).face;
  // Requests take turns, except that a call of H returns to its frame.
  const stay = (mine: InProcess) => () => mine;
  const begin = async (tool: Tool): Promise<Call> => {
    const call = new Call(tool, holdsFrames(option) ? stay(next()) : next);
    await call.send({});
    return call;
  };
  return { world, instances, begin };
}

class Call {
  readonly tool: Tool;
  readonly #route: () => InProcess;
  #rounds = 0;
  #last: Posted | undefined;

  constructor(tool: Tool, route: () => InProcess) {
    this.tool = tool;
    this.#route = route;
  }

  async send(retry: object): Promise<void> {
    const params = { name: this.tool, arguments: SCRIPTS[this.tool].args, ...retry };
    this.#last = await this.#route().post('tools/call', params);
  }

  get isOpen(): boolean {
    return this.#last?.result?.resultType === 'input_required';
  }

  /** The user answers the open question. */
  async goOn(): Promise<void> {
    const inputResponses = SCRIPTS[this.tool].answers[this.#rounds++];
    const requestState = this.#last?.result?.requestState;
    await this.send({ inputResponses, ...(requestState !== undefined && { requestState }) });
  }

  get end(): unknown {
    return this.isOpen ? 'still open' : (this.#last?.error ?? resultText(this.#last?.result ?? {}));
  }
}

test.each(oneForEachWay(IN_MEMORY).map((option) => [option.id, option] as const))(
  'option %s loses no call while its keys are rolled, instance by instance',
  async (_id, option) => {
    const { world, instances, begin } = await fleetOf(option);
    const calls: { readonly call: Call; readonly patience: number; asked: number }[] = [];
    let step = 0;
    /** Begins calls, and answers for the users whose time to think is over. */
    const letTimePass = async () => {
      step++;
      for (const entry of calls) {
        if (!entry.call.isOpen || step < entry.asked + entry.patience) continue;
        await entry.call.goOn();
        entry.asked = step;
      }
      // Users answer at once, after one rotation, and after three, so that calls meet every pair of adjacent key rings.
      for (const patience of [0, 1, 3])
        for (const tool of [GET_WEATHER, RESOLVE_WORK_ITEM] as const)
          calls.push({ call: await begin(tool), patience, asked: step });
    };

    await letTimePass();
    for (const keys of [ADDED, IN_FRONT, AFTER]) {
      // After one time to live, every question under the first key has its answer.
      if (keys === AFTER) for (let pause = 0; pause < 6; pause++) await letTimePass();
      for (const instance of instances) {
        await instance.roll(keys);
        await letTimePass();
      }
    }
    for (const { call } of calls) while (call.isOpen) await call.goOn();

    expect(calls.map(({ call }) => call.end)).toEqual(calls.map(({ call }) => SCRIPTS[call.tool].says));
    const items = calls.filter(({ call }) => call.tool === RESOLVE_WORK_ITEM).length;
    expect(world.items.writes).toHaveLength(items);
  },
);

test.each(IN_MEMORY.filter(sealsState).map((option) => [option.id, option] as const))(
  'a call of option %s that began under a key which is gone is rejected, and nothing of it is done',
  async (_id, option) => {
    const { world, instances, begin } = await fleetOf(option);
    const call = await begin(RESOLVE_WORK_ITEM);
    await call.goOn();
    expect(call.isOpen).toBe(true);
    for (const instance of instances) await instance.roll(AFTER);
    await call.goOn();
    expect(call.end).toEqual(REJECTED);
    expect(world.items.writes).toEqual([]);
  },
);

test('a roll that puts the new key in front before every instance has it loses calls', async () => {
  const option = IN_MEMORY.find((each) => sealsState(each) && !holdsFrames(each)) as LoadedOption;
  const { instances, begin } = await fleetOf(option);
  await instances[0]?.roll(IN_FRONT);
  const call = await begin(RESOLVE_WORK_ITEM);
  await call.goOn();
  expect(call.end).toEqual(REJECTED);
});
