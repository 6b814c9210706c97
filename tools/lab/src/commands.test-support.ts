/** One of each command, with every member that it may have. */
import type { Command } from './protocol.ts';

/** By name, so that a command without an example does not compile. */
export const COMMANDS: { readonly [Name in Command['do']]: Command & { readonly do: Name } } = {
  'set-up': {
    do: 'set-up',
    side: 'left',
    setUp: {
      option: 'f',
      tool: 'work-item',
      client: 'modern',
      instances: 'two',
      singleUse: false,
      legacy: 'shim',
      own: { tool: 'pay', arguments: { amount: 3, to: [{ name: 'Ada' }] }, source: 'server.ts' },
    },
  },
  call: {
    do: 'call',
    side: 'left',
    own: { tool: 'pay', arguments: { amount: 3, to: [{ name: 'Ada' }] }, source: 'server.ts' },
    arguments: { id: 4301, state: 'Resolved' },
  },
  answer: {
    do: 'answer',
    side: 'left',
    question: 1,
    reply: { action: 'accept', content: { resolution: 'Fixed' } },
    isAgent: true,
  },
  close: { do: 'close', side: 'left' },
  fault: {
    do: 'fault',
    side: 'left',
    fault: {
      to: 'i2',
      deliver: 'twice',
      state: 'v1.forged',
      unasked: { key: 'resolution', content: { resolution: 'Fixed' } },
    },
  },
  kill: { do: 'kill', side: 'left', instance: 'i1' },
  restart: { do: 'restart', side: 'left', instance: 'i1' },
  deploy: { do: 'deploy', side: 'left', change: 'reworded' },
};
