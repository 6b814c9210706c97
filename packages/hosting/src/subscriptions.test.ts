import type { McpSubscription } from '@modelcontextprotocol/client';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hosting, modernClient, oldClient } from './hosting.test-support.ts';
import { serveHttp } from './http.ts';

/** A server, a real client's subscription to its tools, and the number of changes received. */
async function instance(bus: InMemoryServerEventBus) {
  const { http, url } = await hosting({ bus });
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
    for (const { heard } of instances)
      await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(n + 1), 10_000);
  }
});

test('an instance that closes ends its subscriptions, and leaves the bus to the others', async () => {
  const bus = new InMemoryServerEventBus();
  const [closing, staying] = [await instance(bus), await instance(bus)];
  const before = bus.listenerCount;
  await closing.http.close();
  expect(await closing.subscription.closed).toBe('graceful');
  expect([before, bus.listenerCount]).toEqual([2, 1]);
  closing.http.notify.toolsChanged();
  await vi.waitFor(() => expect(staying.heard).toHaveBeenCalledOnce(), 10_000);
  expect(closing.heard).not.toHaveBeenCalled();
});

test('sendToolListChanged of the SDK reaches old clients alone, and notify new ones alone', async () => {
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false });
  const server = () => {
    const made = protectedServer({ name: 'growing', version: '1.0.0' }, policy);
    made.registerPrompt('hello', {}, () => ({ messages: [] }));
    made.registerTool('grow', {}, () => {
      made.sendToolListChanged();
      return textResult('Grown.');
    });
    return made;
  };
  const http = await serveHttp({ server });
  onTestFinished(() => http.close());
  const [newHeard, oldHeard, barrier] = [vi.fn(), vi.fn(), vi.fn()];
  const old = await oldClient(http.url);
  old.setNotificationHandler(ToolListChangedNotificationSchema, oldHeard);
  // The stream that carries it opens after the client has connected.
  await vi.waitFor(async () => {
    await old.callTool({ name: 'grow' });
    expect(oldHeard).toHaveBeenCalled();
  }, 10_000);
  const client = await modernClient(http.url);
  client.setNotificationHandler('notifications/tools/list_changed', newHeard);
  client.setNotificationHandler('notifications/prompts/list_changed', barrier);
  await client.listen({ toolsListChanged: true, promptsListChanged: true });

  await client.callTool({ name: 'grow', arguments: {} });
  http.notify.promptsChanged();
  await vi.waitFor(() => expect(barrier).toHaveBeenCalledOnce(), 10_000);
  expect(newHeard).not.toHaveBeenCalled();

  oldHeard.mockClear();
  http.notify.toolsChanged();
  await vi.waitFor(() => expect(newHeard).toHaveBeenCalledOnce(), 10_000);
  await old.callTool({ name: 'grow' });
  await vi.waitFor(() => expect(oldHeard).toHaveBeenCalled(), 10_000);
  expect(oldHeard).toHaveBeenCalledOnce();
});
