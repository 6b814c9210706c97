/** `@mrtr/demo-sampling-and-roots`: the same tool in two shapes, ready to be run. */

import { type Subject, standalone } from '@mrtr/comparison/calls';
import { protectedServer } from '@mrtr/core';
import { journaled, resolved } from './shapes.ts';
import { summarise } from './summarise.ts';

const subject = (id: string, title: string, tool: typeof journaled): Subject =>
  standalone(id, title, (policy) => {
    const server = protectedServer({ name: 'sampling-and-roots', version: '1.0.0' }, policy);
    server.registerTool('summarise', summarise, tool);
    return server;
  });

/** The two shapes, by their letters. */
export const SHAPES: readonly Subject[] = [
  subject('i', 'resolve', resolved),
  subject('j', 'journal', journaled),
];
