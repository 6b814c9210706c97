/** Instances of one deployment: they share a database and a shop. */
import { Instance, type Setting } from './instances.test-support.ts';
import { Shop } from './shop.test-support.ts';

export class Deployment {
  readonly postgres: string;
  readonly shop: Shop;
  readonly #instances: Instance[] = [];

  constructor(postgres: string, shop = new Shop()) {
    this.postgres = postgres;
    this.shop = shop;
  }

  readonly start = async (changes: Partial<Setting> = {}): Promise<Instance> => {
    const own = { postgres: this.postgres, keys: ['k'.repeat(32)], version: '1', takeOverSeconds: 2 };
    const instance = await Instance.start({ ...own, ...changes }, this.shop);
    this.#instances.push(instance);
    return instance;
  };

  async end(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => instance.kill()));
  }
}
