import {
  type McpSubscription,
  StreamableHTTPClientTransport,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { modernClient } from '@mrtr/harness';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type HttpHosting, type HttpOptions, serveHttp } from '../http.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false });

/** A server with a tool and a resource. It says that both can change. */
function server() {
  const made = protectedServer({ name: 'changing', version: '1.0.0' }, policy);
  made.server.registerCapabilities({ resources: { subscribe: true } });
  made.registerTool('now', {}, () => textResult('Now.'));
  made.registerResource('menu', 'menu://today', {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'Soup.' }],
  }));
  return made;
}

async function instance(options: HttpOptions = {}): Promise<HttpHosting> {
  const hosting = await serveHttp({ server, close: async () => {} }, { drainMs: 100, ...options });
  onTestFinished(() => hosting.close());
  return hosting;
}

/** A real client's subscription, and what reached it. */
async function subscribe(
  { url }: HttpHosting,
  filter: SubscriptionFilter = { toolsListChanged: true },
): Promise<{ heard: string[]; subscription: McpSubscription }> {
  const client = await modernClient(new StreamableHTTPClientTransport(url));
  onTestFinished(() => client.close());
  const heard: string[] = [];
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'));
  client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('resources'));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  );
  return { heard, subscription: await client.listen(filter) };
}

test('a subscription on one instance hears what another instance publishes, over a bus that they share', async () => {
  const bus = new InMemoryServerEventBus();
  const instances = [await instance({ bus }), await instance({ bus })];
  const clients = await Promise.all(instances.map((one) => subscribe(one)));
  for (const [n, { notify }] of instances.entries()) {
    notify.toolsChanged();
    for (const { heard } of clients) await vi.waitFor(() => expect(heard).toHaveLength(n + 1));
  }
  expect(clients.map(({ heard }) => heard)).toEqual([
    ['tools', 'tools'],
    ['tools', 'tools'],
  ]);
});

test('a subscription hears only the changes that it asked for', async () => {
  const bus = new InMemoryServerEventBus();
  const [here, there] = [await instance({ bus }), await instance({ bus })];
  const all = await subscribe(there, {
    toolsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['menu://today', 'menu://tomorrow'],
  });
  const one = await subscribe(there, { resourceSubscriptions: ['menu://tomorrow'] });
  here.notify.toolsChanged();
  here.notify.resourcesChanged();
  here.notify.resourceUpdated('menu://today');
  here.notify.resourceUpdated('menu://tomorrow');
  await vi.waitFor(() => expect(one.heard).toEqual(['menu://tomorrow']));
  await vi.waitFor(() =>
    expect(all.heard).toEqual(['tools', 'resources', 'menu://today', 'menu://tomorrow']),
  );
});

test('without a bus, an instance publishes to its own subscriptions', async () => {
  const [here, there] = [await instance(), await instance()];
  const filter = { toolsListChanged: true, resourcesListChanged: true };
  const [ofHere, ofThere] = [await subscribe(here, filter), await subscribe(there, filter)];
  here.notify.toolsChanged();
  await vi.waitFor(() => expect(ofHere.heard).toEqual(['tools']));
  there.notify.resourcesChanged();
  await vi.waitFor(() => expect(ofThere.heard).toEqual(['resources']));
  expect(ofHere.heard).toEqual(['tools']);
});

test('an instance that closes ends its subscriptions, and leaves the bus to the others', async () => {
  const bus = new InMemoryServerEventBus();
  const [closing, staying] = [await instance({ bus }), await instance({ bus })];
  const [ofClosing, ofStaying] = [await subscribe(closing), await subscribe(staying)];
  const before = bus.listenerCount;
  await closing.close();
  expect(await ofClosing.subscription.closed).toBe('graceful');
  expect([before, bus.listenerCount]).toEqual([2, 1]);
  closing.notify.toolsChanged();
  await vi.waitFor(() => expect(ofStaying.heard).toEqual(['tools']));
  expect(ofClosing.heard).toEqual([]);
});
