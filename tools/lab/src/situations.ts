/** What is played with every option for the measured table. */
import { type Action, answer, CALL, DECLINE, fault, ITEM, kill, ONE, type Script } from './script.ts';
import { type SetUp, setUp, UNASKED } from './set-up.ts';

type Situation = readonly [about: string, setUp: Partial<SetUp>, ...actions: Action[]];

const METRIC = [CALL, answer('metric')] as const;
const DUPLICATE = [CALL, answer('Duplicate'), answer('4301')] as const;
const ONE_ITEM = { ...ONE, ...ITEM } as const;
const OLD = { ...ONE, client: 'legacy' } as const;
const fixedThrough = (deliver: 'twice' | 'lose-answer') => [CALL, fault({ deliver }), answer('Fixed')];

const SITUATIONS: Readonly<Record<string, Situation>> = {
  one: ['one question, answered', ONE, ...METRIC],
  two: ['two questions, answered', ONE_ITEM, ...DUPLICATE],
  fleet: ['one question; each round reaches another instance', {}, ...METRIC],
  'fleet-two': ['two questions; each round reaches another instance', ITEM, ...DUPLICATE],
  restart: [
    'the instance is killed while its user thinks, and started again',
    ONE,
    CALL,
    kill('i1'),
    { do: 'restart', instance: 'i1' },
    answer('metric'),
  ],
  old: ['an old client that holds its connection', OLD, ...METRIC],
  'old-two': ['an old client is asked twice', { ...OLD, ...ITEM }, ...DUPLICATE],
  'old-degrade': ["an old client, without the SDK's shim", { ...OLD, legacy: 'degrade' }, ...METRIC],
  'old-fleet': ['an old client of stateless instances', { client: 'legacy' }, ...METRIC],
  unaskable: ['a client that cannot be asked', { ...ONE, client: 'unaskable' }, CALL],
  decline: ['the user declines', ONE, CALL, answer(DECLINE)],
  cancel: ['the user cancels', ONE, CALL, answer({ action: 'cancel' })],
  nonsense: [
    'an answer that does not fit, then one that does',
    ONE,
    CALL,
    answer('kelvin'),
    answer('metric'),
  ],
  silence: ['the user says nothing at first', ONE, CALL, answer('silence'), answer('metric')],
  twice: ['the retry is delivered twice', ONE_ITEM, ...fixedThrough('twice')],
  'twice-single': [
    'the retry is delivered twice; state is single-use',
    { ...ONE_ITEM, singleUse: true },
    ...fixedThrough('twice'),
  ],
  lost: ['the answer to the retry is lost', ONE_ITEM, ...fixedThrough('lose-answer')],
  unasked: [
    'an answer to a question that nobody asked',
    ONE_ITEM,
    fault({ unasked: UNASKED['work-item'] }),
    ...DUPLICATE,
  ],
  'other-state': [
    'the state of a call for another item',
    ONE_ITEM,
    { do: 'call', arguments: { id: 4301, state: 'Resolved' } },
    answer('Duplicate'),
    answer({ action: 'cancel' }),
    CALL,
    answer('Duplicate'),
    fault({}, 'earlier'),
    answer('4301'),
  ],
};

/** The script of each situation for an option. */
export const situationsOf = (option: string): readonly Script[] =>
  Object.entries(SITUATIONS).map(([id, [about, more, ...actions]]) => ({
    id: `${option}.${id}`,
    about,
    setUp: setUp(option, more),
    actions,
  }));
