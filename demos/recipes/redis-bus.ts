/** Several instances: a change that one publishes reaches the subscriptions on all of them, over a channel in Redis. */
import { InMemoryServerEventBus, type ServerEventBus } from '@modelcontextprotocol/server';
import { createClient } from 'redis';

/** Call it once in a process, and give what it makes to `serveHttp` or `createMcpHandler` as `bus`. */
export async function open(
  options: Parameters<typeof createClient>[0],
  channel = 'deployer:changes',
): Promise<ServerEventBus & { close(): Promise<void> }> {
  const [sender, receiver] = [createClient(options), createClient(options)];
  for (const client of [sender, receiver]) client.on('error', (error) => console.error(error));
  await Promise.all([sender.connect(), receiver.connect()]);
  const here = new InMemoryServerEventBus();
  await receiver.subscribe(channel, (event) => here.publish(JSON.parse(event)));
  return {
    // A change that Redis misses is not repeated: a client learns of it when it lists again.
    publish: (event) => void sender.publish(channel, JSON.stringify(event)).catch(console.error),
    subscribe: (listener) => here.subscribe(listener), // Redis brings an instance its own changes, too.
    close: async () => void (await Promise.all([sender.close(), receiver.close()])),
  };
}
