/** `pnpm demo sampling-and-roots`: a tool that asks the client's model, in two shapes. */
import { type Subject, standalone, toolCall } from '@mrtr/comparison/calls';
import type { Demo } from '@mrtr/comparison/demo';
import { protectedServer } from '@mrtr/core';
import { scriptedModel, scriptedUser } from '@mrtr/harness';
import { journaled, resolved } from './shapes.ts';
import { summarise } from './summarise.ts';

const subject = (id: string, title: string, tool: typeof journaled): Subject =>
  standalone(id, title, (policy) => {
    const server = protectedServer({ name: 'sampling-and-roots', version: '1.0.0' }, policy);
    server.registerTool('summarise', summarise, tool);
    return server;
  });

export const demo: Demo = {
  subjects: [subject('i', 'resolve', resolved), subject('j', 'journal', journaled)],
  calls: () => [
    {
      call: toolCall('summarise', { words: 5 }),
      user: scriptedUser({}),
      model: scriptedModel('Runs a second-hand bicycle shop.'),
      roots: [{ uri: 'file:///home/ada/bicycles', name: 'bicycles' }],
    },
  ],
};
