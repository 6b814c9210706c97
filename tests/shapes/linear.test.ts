import { onceContract } from './once-contract.test-support.ts';
import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const shape = await loadShape('h', { name: 'linear' });

shapeContract(shape, {
  'a question that is reworded while it is out is asked again':
    'the parked handler keeps the question that it asked',
  'a round that is sent twice is served twice, with the same result':
    'the first one takes the handler, and the second is rejected',
});
onceContract(shape, { records: false });
