/** `pnpm demo basic-multiround`: an item is resolved, as a duplicate of another or not. */
import { standalone, toolCall } from '@mrtr/comparison/calls';
import { type Demo, replies } from '@mrtr/comparison/demo';
import { scriptedUser } from '@mrtr/harness';
import { createServer } from './server.ts';

const RESOLUTION = replies('Duplicate', 'Fixed', 'Broken');
const ORIGINAL = replies('4301', '4301', '0');

export const demo: Demo = {
  subjects: [standalone('basic-multiround', 'two questions', createServer)],
  calls: (answer) => [
    {
      call: toolCall('resolve', { id: 4522 }),
      user: scriptedUser({ resolution: RESOLUTION[answer], original: ORIGINAL[answer] }),
    },
  ],
};
