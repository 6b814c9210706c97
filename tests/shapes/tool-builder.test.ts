import { loadShape, shapeContract } from './shape-contract.test-support.ts';

shapeContract(await loadShape('g', { name: 'tool-builder', effectsBelow: true }));
