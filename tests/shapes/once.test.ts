import { onceContract } from './once-contract.test-support.ts';
import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const shape = await loadShape('f', { name: 'once' });

shapeContract(shape, {
  'a refusal ends a prompt and a resource with a JSON-RPC error':
    'its author reads the refusal and ends the call',
});
onceContract(shape, { records: true });
