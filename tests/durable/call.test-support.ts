/** One call of a tool, whose requests may go to any instance. */
import { vi } from 'vitest';
import type { Instance } from './instances.test-support.ts';
import type { Order, Shop } from './shop.test-support.ts';
import { answering, type RoundSummary, type Sent } from './site.test-support.ts';

export const LOST: RoundSummary = {
  fails:
    'This call cannot be resumed here: its continuation expired, was resumed already, or is unknown. Find out what was ' +
    'done before you start the call again.',
};
/** The second question. */
export const WHERE_TO = { address: 'Where to, for charge #2?' };
export const RESULT: RoundSummary = { says: 'reserve #1, charge #2, ship #3' };

const PATIENCE = { timeout: 90_000, interval: 100 };
let orders = 0;

export class Call {
  readonly item = `tea ${++orders}`;
  readonly order: Order;
  readonly #sent: Sent;

  constructor(shop: Shop, sent: Sent = {}) {
    this.order = shop.of(this.item);
    this.#sent = { arguments: { item: this.item }, ...sent };
  }

  first = (instance: Instance) => instance.send(this.#sent);

  answer(
    instance: Instance,
    asked: RoundSummary,
    content: Readonly<Record<string, string>>,
    sent: Sent = {},
  ) {
    return instance.send({ ...this.#sent, ...answering(asked, content), ...sent });
  }

  count = (instance: Instance, asked: RoundSummary, count = '3') => this.answer(instance, asked, { count });
  address = (instance: Instance, asked: RoundSummary) => this.answer(instance, asked, { address: 'home' });

  /** Sends the same answer until the next question or a result comes, like a client whose server was unreachable. */
  eventually = (present: () => Promise<RoundSummary>): Promise<RoundSummary> =>
    vi.waitFor(async () => {
      const outcome = await present();
      if (outcome.asks ?? outcome.says) return outcome;
      throw new Error(`There is no answer yet: ${JSON.stringify(outcome)}`);
    }, PATIENCE);

  /** All effects of the call. Each must happen once. */
  get whole(): string[] {
    return [`reserve ${this.item}`, `charge 3 ${this.item}`, 'ship to home'];
  }
}
