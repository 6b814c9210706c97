/** What a side of the lab can be set up with. The page imports this too, so do not import Node modules. */
import type { SetUp } from './commands.ts';

export * from './choices.ts';
export type { OwnCall, SetUp } from './commands.ts';

export type ToolWord = SetUp['tool'];

export const setUp = (option: string, more: Partial<SetUp> = {}): SetUp => ({
  option,
  tool: 'weather',
  client: 'modern',
  instances: 'two',
  singleUse: false,
  ...more,
});
