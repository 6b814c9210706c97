/** The property of pages: whoever opens which addresses when, a page counts for its own user, once, and in time. */
import { MemoryInteractions, type PendingInteractionsOptions } from '@mrtr/pages';
import type { InteractionStore } from '@mrtr/pages/store';
import fc from 'fast-check';
import { hostWithPage } from '../../packages/pages/src/page.test-support.ts';
import { hostileText } from './hostile-values.ts';

const TTL_SECONDS = 60;
const OTHER_SITE = 'https://other.example';
const OWNERS = ['ada', 'ada', 'mallory'] as const;

const who = fc.constantFrom('ada', 'ada', 'ada', 'mallory', 'mallory', 'nobody');
const which = fc.nat(OWNERS.length - 1);
/** What stands in the place of an id or a state: usually the right one. */
const guess = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: hostileText },
);

const actions = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant('start' as const), who, which, guess }) },
    {
      weight: 6,
      // `state`: which of those that were given out, counted from the latest.
      arbitrary: fc.record({
        does: fc.constant('come back' as const),
        who,
        state: fc.constantFrom(0, 0, 1, 2),
        guess,
        times: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('retry' as const), which }) },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constant('wait' as const), seconds: fc.constantFrom(1, 58, 60) }),
    },
  ),
  { minLength: 2, maxLength: 14 },
);

type Action = typeof actions extends fc.Arbitrary<(infer A)[]> ? A : never;

export interface Pages {
  readonly identifyBrowser?: PendingInteractionsOptions<string>['identifyBrowser'];
  readonly store?: (now: () => number) => InteractionStore;
}

/** However browsers, with whatever ids and states, come to the pages of three calls. */
export function onlyItsUserFinishes(pages: Pages = {}) {
  return fc.asyncProperty(actions, async (all) => {
    const world = await World.begin(pages);
    for (const action of all) await world.take(action);
  });
}

interface Tracked {
  readonly owner: string;
  readonly page: URL;
  readonly requestState: string;
  state?: string | undefined;
  finished: boolean;
}

class World {
  readonly #calls: Tracked[] = [];
  readonly #states: { readonly state: string; readonly call: Tracked }[] = [];
  #now = 1_785_240_000_000;
  readonly #endsAt = this.#now + TTL_SECONDS * 1000;
  readonly #host;
  #finished = 0;

  private constructor({ identifyBrowser, store = (now) => new MemoryInteractions({ now }) }: Pages) {
    const pages = {
      ...(identifyBrowser && { identifyBrowser }),
      start: ({ state }: { readonly state: string }) => `${OTHER_SITE}/?state=${state}`,
      finish: async () => `linked ${++this.#finished}`,
      store: store(() => this.#now),
      ttlSeconds: TTL_SECONDS,
      maxAsks: 100,
    };
    this.#host = hostWithPage(pages, { now: () => this.#now });
  }

  static async begin(pages: Pages): Promise<World> {
    const world = new World(pages);
    for (const owner of OWNERS) {
      const { inputRequests, requestState } = (await world.#host.call({}, owner)).result as unknown as {
        inputRequests: { link: { params: { url: string } } };
        requestState: string;
      };
      world.#calls.push({
        owner,
        page: new URL(inputRequests.link.params.url),
        requestState,
        finished: false,
      });
    }
    return world;
  }

  take(action: Action): Promise<void> {
    switch (action.does) {
      case 'start':
        return this.#start(action);
      case 'come back':
        return this.#comeBack(action);
      case 'retry':
        return this.#retry(this.#calls[action.which] as Tracked);
      case 'wait':
        this.#now += action.seconds * 1000;
        return Promise.resolve();
    }
  }

  async #start({ who, which, guess }: Extract<Action, { does: 'start' }>): Promise<void> {
    const call = this.#calls[which] as Tracked;
    const url = new URL(call.page);
    const id = url.searchParams.get('id');
    if (guess !== undefined) url.searchParams.set('id', guess);
    const isRight = url.searchParams.get('id') === id;
    const owed = isRight && who === call.owner && !call.finished && this.#now < this.#endsAt;
    const response = await this.#open(url, who, 'POST');
    expectStatus(response, owed ? 303 : who === 'nobody' ? 401 : 404, 'start');
    const location = response.headers.get('location');
    if (!owed || location === null) return;
    if (new URL(location).origin !== OTHER_SITE) throw new Error(`A browser is sent to ${location}.`);
    call.state = new URL(location).searchParams.get('state') ?? '';
    this.#states.push({ state: call.state, call });
  }

  async #comeBack({ who, state, guess, times }: Extract<Action, { does: 'come back' }>): Promise<void> {
    const given = this.#states.at(-1 - state);
    const url = new URL('https://shop.example/link/callback?code=c');
    url.searchParams.set('state', guess ?? given?.state ?? '');
    const call = given?.call;
    const isRight = call !== undefined && url.searchParams.get('state') === call.state;
    const owed = isRight && who === call.owner && !call.finished && this.#now < this.#endsAt;
    const before = this.#finished;
    const responses = await Promise.all(Array.from({ length: times }, () => this.#open(url, who)));
    const good = responses.filter(({ status }) => status === 200).length;
    if (good !== (owed ? 1 : 0) || this.#finished - before !== good) {
      throw new Error(
        `${times} callbacks: ${good} were taken, and the work was done ${this.#finished - before}×.`,
      );
    }
    for (const response of responses) {
      if (response.status !== 200) expectStatus(response, who === 'nobody' ? 401 : 404, 'callback');
      if (response.headers.has('location')) throw new Error('The callback sends a browser on.');
    }
    if (owed) call.finished = true;
  }

  async #retry({ owner, requestState, finished }: Tracked): Promise<void> {
    const { result } = await this.#host.call(
      { requestState, inputResponses: { link: { action: 'accept' } } },
      owner,
    );
    const end = result?.inputRequests ? 'asked' : result?.isError ? 'unfinished' : 'accepted';
    const isOver = this.#now >= this.#endsAt;
    const owed = finished ? 'accepted' : isOver ? 'unfinished' : 'asked';
    if (end !== owed) throw new Error(`A retry comes to '${end}', and is owed '${owed}'.`);
  }

  #open(url: URL, who: string, method = 'GET'): Promise<Response> {
    const headers = { origin: url.origin, ...(who !== 'nobody' && { 'x-user': who }) };
    return this.#host.open(url.href, { method, headers });
  }
}

function expectStatus({ status }: Response, owed: number, page: string): void {
  if (status !== owed) throw new Error(`The ${page} page answers ${status}, and owes ${owed}.`);
}
