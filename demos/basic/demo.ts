/** `pnpm demo basic`: a deployment, which the user confirms or not. */
import { standalone, toolCall } from '@mrtr/comparison/calls';
import { type Demo, replies } from '@mrtr/comparison/demo';
import { scriptedUser } from '@mrtr/harness';
import { createServer } from './server.ts';

const CONFIRM = replies('Deploy', 'Do not deploy', 'perhaps');

export const demo: Demo = {
  subjects: [standalone('basic', 'one question, one retry', createServer)],
  calls: (answer) => [
    {
      call: toolCall('deploy', { env: 'production' }),
      user: scriptedUser({ confirm: CONFIRM[answer] }),
    },
  ],
};
