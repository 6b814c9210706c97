import { expect, test } from 'vitest';
import { readCommand } from './commands.ts';

const SET_UP = { option: 'b', tool: 'weather', client: 'modern', instances: 'two', singleUse: false };

test.each([
  { do: 'set-up', side: 'left', setUp: SET_UP },
  { do: 'call', side: 'right' },
  { do: 'answer', side: 'left', question: 1, reply: { action: 'accept', content: { units: 'metric' } } },
  { do: 'answer', side: 'left', question: 2, reply: 'silence' },
  { do: 'way', side: 'left', way: { deliver: 'twice', to: 'i2', state: 'v1.forged' } },
  { do: 'kill', side: 'left', instance: 'i1' },
  { do: 'restart', side: 'left', instance: 'i2' },
  { do: 'set-up', side: 'right', setUp: { ...SET_UP, option: 'g', tool: 'order' } },
  { do: 'deploy', side: 'left', change: 'step-removed' },
])('$do is a command', (command) => {
  expect(readCommand(JSON.stringify(command))).toEqual(command);
});

test.each([
  ['no JSON', 'kill left i1'],
  ['a command that there is not', '{"do":"run","side":"left"}'],
  ['a process id', '{"do":"kill","side":"left","pid":1}'],
  ['a process id in place of an instance', '{"do":"kill","side":"left","instance":"1"}'],
  ['an instance with a path', '{"do":"kill","side":"left","instance":"../i1"}'],
  [
    'a module',
    JSON.stringify({ do: 'set-up', side: 'left', setUp: { ...SET_UP, module: 'file:///etc/x.mjs' } }),
  ],
  [
    'an option with a path',
    JSON.stringify({ do: 'set-up', side: 'left', setUp: { ...SET_UP, option: '../x' } }),
  ],
  ['an address', '{"do":"way","side":"left","way":{"deliver":"once","to":"http://example.com/"}}'],
  ['a deploy of a change that there is not', '{"do":"deploy","side":"left","change":"broken"}'],
  ['a deploy of a file', '{"do":"deploy","side":"left","change":"../../../etc/passwd"}'],
  ['a deploy of more than a change', '{"do":"deploy","side":"left","change":"reworded&shape=h"}'],
  ['a deploy of the prototype', '{"do":"deploy","side":"left","change":"__proto__"}'],
  ['a deploy of nothing', '{"do":"deploy","side":"left"}'],
  ['a deploy of several changes', '{"do":"deploy","side":"left","change":["reworded"]}'],
  ['a deploy of a module', '{"do":"deploy","side":"left","change":"reworded","module":"file:///x.mjs"}'],
  ['a deploy of one instance', '{"do":"deploy","side":"left","change":"reworded","instance":"i1"}'],
  ['more than the command needs', '{"do":"call","side":"left","command":"rm -rf /"}'],
  ['a side of the prototype', '{"do":"call","side":"__proto__"}'],
  [
    'a state that is too long',
    JSON.stringify({ do: 'way', side: 'left', way: { deliver: 'once', state: 'x'.repeat(20_001) } }),
  ],
  [
    'an answer that holds objects',
    '{"do":"answer","side":"left","question":1,"reply":{"action":"accept","content":{"a":{"b":1}}}}',
  ],
])('%s is no command', (_what, text) => {
  expect(readCommand(text)).toBeUndefined();
});
