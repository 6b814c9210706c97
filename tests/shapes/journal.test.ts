import { onceContract } from './once-contract.test-support.ts';
import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const shape = await loadShape('j', { name: 'journal' });

shapeContract(shape);
onceContract(shape, { records: true });
