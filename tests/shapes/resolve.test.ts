import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const shape = await loadShape('i', { name: 'resolve', effectsBelow: true });

shapeContract(shape, {
  'a refusal ends the call politely, before anything below the question':
    'an error result ends it, where the consumer wants the plain value',
});
