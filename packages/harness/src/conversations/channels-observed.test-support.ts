/** A program: prints whether the channels have observers after loading the harness, in two conversations, and after them. */
import { channel } from 'node:diagnostics_channel';
import { CALL, deployer } from '../deployer.test-support.ts';
import { converse, host } from '../index.ts';
import { CHANNELS } from '../recording/diagnostics.ts';

const look = () => console.log(CHANNELS.map((name) => channel(name).hasSubscribers).join());

look();
const user = () => {
  look();
  return { action: 'cancel' } as const;
};
const deploy = () => converse({ ...CALL, user }, () => host('memory', () => ({ server: deployer })));
await Promise.all([deploy(), deploy()]);
look();
