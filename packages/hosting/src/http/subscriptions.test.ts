import type { McpSubscription } from '@modelcontextprotocol/client';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { hosting, modernClient } from '../hosting.test-support.ts';

/** A server, a real client's subscription to its tools, and how often it heard that they changed. */
async function instance(bus?: InMemoryServerEventBus) {
  const { http, url } = await hosting(bus ? { bus } : {});
  const client = await modernClient(url);
  const heard = vi.fn();
  client.setNotificationHandler('notifications/tools/list_changed', heard);
  const subscription: McpSubscription = await client.listen({ toolsListChanged: true });
  return { http, heard, subscription };
}

test('a subscription on one instance hears what another instance publishes, over a bus that they share', async () => {
  const bus = new InMemoryServerEventBus();
  const instances = [await instance(bus), await instance(bus)];
  for (const [n, { http }] of instances.entries()) {
    http.notify.toolsChanged();
    for (const { heard } of instances) await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(n + 1));
  }
});

test('without a bus, an instance publishes to its own subscriptions', async () => {
  const [here, there] = [await instance(), await instance()];
  here.http.notify.toolsChanged();
  await vi.waitFor(() => expect(here.heard).toHaveBeenCalledOnce());
  there.http.notify.toolsChanged();
  await vi.waitFor(() => expect(there.heard).toHaveBeenCalledOnce());
  expect(here.heard).toHaveBeenCalledOnce();
});

test('an instance that closes ends its subscriptions, and leaves the bus to the others', async () => {
  const bus = new InMemoryServerEventBus();
  const [closing, staying] = [await instance(bus), await instance(bus)];
  const before = bus.listenerCount;
  await closing.http.close();
  expect(await closing.subscription.closed).toBe('graceful');
  expect([before, bus.listenerCount]).toEqual([2, 1]);
  closing.http.notify.toolsChanged();
  await vi.waitFor(() => expect(staying.heard).toHaveBeenCalledOnce());
  expect(closing.heard).not.toHaveBeenCalled();
});
