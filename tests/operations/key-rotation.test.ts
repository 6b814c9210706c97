/** Keys are rolled under three instances, one at a time, while calls are in flight: no call is lost. */

import { type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { createWorld, GET_WEATHER, RESOLVE_WORK_ITEM, type World } from '@mrtr/example-tools';
import { InProcess, type Posted } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import type { RunningOption } from '@mrtr/option';
import type { LoadedOption } from '@mrtr/options';
import { expect, onTestFinished, test } from 'vitest';
import { partsOf, policyFrom } from '../../packages/core/src/admission/policy.ts';
import { IN_MEMORY, oneForEachWay, sealsState } from '../testkit/options.ts';
import { REJECTED } from '../testkit/rejected.ts';

const [FIRST, SECOND] = ['first'.repeat(8), 'second'.repeat(8)];
/** The rolls, in order. Before the last one, every call that the first key sealed has ended or expired. */
const ROLLS = [[FIRST, SECOND], [SECOND, FIRST], [SECOND]] as const;
const INSTANCES = 3;

const policies = new Map<string, RequestStatePolicy>();
function policyOf(keys: readonly string[]): RequestStatePolicy {
  const known = policies.get(keys.join()) ?? requestStatePolicy({ keys });
  policies.set(keys.join(), known);
  return known;
}

/** One instance of a deployment. */
class Instance {
  keys: readonly string[] = [FIRST];
  readonly #option: LoadedOption;
  readonly #world: World;
  #running!: RunningOption;
  #face!: InProcess;

  constructor(option: LoadedOption, world: World) {
    this.#option = option;
    this.#world = world;
    this.#start();
  }

  /**
   * Takes new keys. An instance without frames is replaced by a new one. An instance with frames reads its keys again:
   * each new server, and so each request, reads the policy's `ring`.
   */
  async roll(keys: readonly string[]): Promise<void> {
    this.keys = keys;
    if (holdsFrames(this.#option)) return;
    await this.close();
    this.#start();
  }

  post(tool: string, args: object, retry: object): Promise<Posted> {
    return this.#face.post('tools/call', { name: tool, arguments: args, ...retry });
  }

  async close(): Promise<void> {
    await this.#face.close();
    await this.#running.close();
  }

  #start(): void {
    const keys = () => this.keys;
    const state = policyFrom({
      ...partsOf(policyOf([FIRST])),
      get ring() {
        return partsOf(policyOf(keys())).ring;
      },
    });
    this.#running = this.#option.create({ world: this.#world, state });
    this.#face = new InProcess(() => this.#running.server());
  }
}

const holdsFrames = ({ claims }: LoadedOption) => claims.modern.framesHeld === 1;

const accept = (field: string, value: unknown) => ({
  [field]: { action: 'accept', content: { [field]: value } },
});

/** A user's answers, question by question, and the expected result. */
const SCRIPTS = {
  [GET_WEATHER]: {
    args: { location: 'Tokyo' },
    answers: [accept('units', 'metric')],
    says: 'Weather in Tokyo: 22°C, partly cloudy.',
  },
  [RESOLVE_WORK_ITEM]: {
    args: { id: 4522, state: 'Resolved' },
    answers: [accept('resolution', 'Duplicate'), accept('original', 4301)],
    says: '#4522 resolved as Duplicate of #4301.',
  },
} as const;
type Tool = keyof typeof SCRIPTS;

/** A fleet, and its open calls. */
class Fleet {
  readonly world = createWorld();
  readonly instances: readonly Instance[];
  readonly #option: LoadedOption;
  #requests = 0;

  constructor(option: LoadedOption) {
    this.#option = option;
    this.instances = Array.from({ length: INSTANCES }, () => new Instance(option, this.world));
    onTestFinished(async () => {
      for (const instance of this.instances) await instance.close();
    });
  }

  /** Begins a call; its user holds the answer until {@link Call.goOn}. */
  async begin(tool: Tool): Promise<Call> {
    const call = new Call(tool, this.#route());
    await call.send({});
    return call;
  }

  // Round robin, except that a call of H returns to its frame.
  #route(): () => Instance {
    const next = () => this.instances[this.#requests++ % INSTANCES] as Instance;
    if (!holdsFrames(this.#option)) return next;
    const mine = next();
    return () => mine;
  }
}

class Call {
  readonly #tool: Tool;
  readonly #route: () => Instance;
  #rounds = 0;
  last!: Posted;

  constructor(tool: Tool, route: () => Instance) {
    this.#tool = tool;
    this.#route = route;
  }

  async send(retry: object): Promise<void> {
    this.last = await this.#route().post(this.#tool, SCRIPTS[this.#tool].args, retry);
  }

  get isOpen(): boolean {
    return this.last.result?.resultType === 'input_required';
  }

  /** The user answers the open question. */
  async goOn(): Promise<void> {
    const inputResponses = SCRIPTS[this.#tool].answers[this.#rounds++];
    const requestState = this.last.result?.requestState;
    await this.send({ inputResponses, ...(requestState !== undefined && { requestState }) });
  }

  get end(): unknown {
    return this.isOpen ? 'still open' : (this.last.error ?? resultText(this.last.result ?? {}));
  }
}

test.each(oneForEachWay(IN_MEMORY).map((option) => [option.id, option] as const))(
  'option %s loses no call while its keys are rolled, instance by instance',
  async (_id, option) => {
    const fleet = new Fleet(option);
    const calls: { readonly call: Call; readonly tool: Tool; readonly patience: number; asked: number }[] =
      [];
    let step = 0;
    /** Begins calls, and lets users answer who have thought long enough. */
    const letTimePass = async () => {
      step++;
      for (const entry of calls) {
        if (!entry.call.isOpen || step < entry.asked + entry.patience) continue;
        await entry.call.goOn();
        entry.asked = step;
      }
      // Users answer at once, after one roll, and after three. So calls meet every pair of neighbouring rings.
      for (const patience of [0, 1, 3]) {
        for (const tool of [GET_WEATHER, RESOLVE_WORK_ITEM] as const) {
          calls.push({ call: await fleet.begin(tool), tool, patience, asked: step });
        }
      }
    };

    await letTimePass();
    for (const keys of ROLLS) {
      if (!(keys as readonly string[]).includes(FIRST)) {
        // After one time to live, every user who was asked under the first key has answered.
        for (let pause = 0; pause < 6; pause++) await letTimePass();
      }
      for (const instance of fleet.instances) {
        await instance.roll(keys);
        await letTimePass();
      }
    }
    for (const { call } of calls) while (call.isOpen) await call.goOn();

    expect(calls.map(({ call }) => call.end)).toEqual(calls.map(({ tool }) => SCRIPTS[tool].says));
    const items = calls.filter(({ tool }) => tool === RESOLVE_WORK_ITEM).length;
    expect(fleet.world.items.writes).toHaveLength(items);
  },
);

test.each(IN_MEMORY.filter(sealsState).map((option) => [option.id, option] as const))(
  'a call of option %s that began under a key which is gone is refused, and nothing of it is done',
  async (_id, option) => {
    const fleet = new Fleet(option);
    const call = await fleet.begin(RESOLVE_WORK_ITEM);
    await call.goOn();
    expect(call.isOpen).toBe(true);
    for (const keys of ROLLS) for (const instance of fleet.instances) await instance.roll(keys);
    await call.goOn();
    expect(call.end).toEqual(REJECTED);
    expect(fleet.world.items.writes).toEqual([]);
  },
);

test('a roll that puts the new key in front before every instance has it loses calls', async () => {
  const option = IN_MEMORY.find((each) => sealsState(each) && !holdsFrames(each)) as LoadedOption;
  const fleet = new Fleet(option);
  await fleet.instances[0]?.roll([SECOND, FIRST]);
  const call = await fleet.begin(RESOLVE_WORK_ITEM);
  await call.goOn();
  expect(call.end).toEqual(REJECTED);
});
