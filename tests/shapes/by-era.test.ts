import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const OWN_CONTEXT = 'its handlers get the context of the SDK';

const shape = await loadShape('d', { name: 'by-era' });

shapeContract(shape, {
  'a client that cannot be asked is rejected before any effect, in each era and in each round':
    'nobody knows its questions before it asks them',
  'state of another shape, or of another version, is rejected, and nothing runs':
    'its author keeps the answers',
  'an old client that the policy does not ask gets an error that says why':
    'its author asks and decides alone',
  'a refusal ends a prompt and a resource with a JSON-RPC error':
    'its author reads the refusal and ends the call',
  'idempotency keys are the same in all rounds of a call, wherever and however often one is presented':
    OWN_CONTEXT,
  'the context says who can be asked and who sent each round, without the token, and reports progress':
    OWN_CONTEXT,
});
