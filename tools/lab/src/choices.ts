/** The choices of the lab's sides. The page imports this too, so do not import Node modules. */

export const SIDES = ['left', 'right'] as const;

export type SideName = (typeof SIDES)[number];

/** The two instances of a side. A call on one instance uses the first. */
export const INSTANCE_IDS = ['i1', 'i2'] as const;

export type InstanceId = (typeof INSTANCE_IDS)[number];

/** The choices of a set-up besides its shape, each with its label. */
export const CHOICES = {
  /** The options' tools. `order` has a version 2, which can be deployed while a question is open. */
  tool: { weather: 'asks once', 'work-item': 'asks twice', order: 'has a version 2' },
  client: { modern: 'new client', legacy: 'old client', unaskable: 'cannot be asked' },
  /** `one` keeps a session for each old client. `two` keep no sessions, and take turns. */
  instances: { one: '1 instance', two: '2 instances' },
} as const;

/** The id of the server that the lab was opened with. It is not an option. */
export const OWN = 'own';

/** Whether a server is named by its address, and not by the command that starts it. */
export const isAddress = (server = '') => /^https?:/i.test(server);

/** An answer to the first question of each tool, for a request that was not asked. */
export const UNASKED = {
  weather: { key: 'units', content: { units: 'imperial' } },
  'work-item': { key: 'resolution', content: { resolution: 'Fixed' } },
  order: { key: 'size', content: { size: 'L' } },
} as const;
