import { loadShape, shapeContract } from './shape-contract.test-support.ts';

const FORMS = 'it asks with forms only';
const ONE_BY_ONE = 'each question takes a round, because the first one unwinds the handler';

const shape = await loadShape('b', { name: 'await-shim' });

shapeContract(shape, {
  'a client that cannot be asked is refused before any effect, in each era and in each round':
    'nobody knows its questions before it asks them',
  'a page to open is asked as a form is, and only of clients that open pages': FORMS,
  'an approval counts, and its receipt stays the same in later rounds': FORMS,
  'a question under the key `__proto__` is refused before it goes out':
    'it names a question after the fields of its form',
  'an old client that the policy does not ask gets an error that says why':
    'it asks by itself and ignores the policy',
  'several questions of one round may be answered one by one': ONE_BY_ONE,
  'a handler asks the client’s model and for its roots as it asks the user': 'it asks the user only',
});
