/** The scripts of the users of the two tools, and the expected result of a call with each. */
import { type LogicalCall, scriptedUser, type User } from '@mrtr/harness';
import { GET_WEATHER, RESOLVE_WORK_ITEM, type ToolName } from './index.ts';

export interface UserScript {
  readonly name: string;
  readonly tool: ToolName;
  readonly call: LogicalCall;
  /** Makes a new user for each call. */
  readonly user: () => User;
  /** How many questions the user sees if the client can be asked. */
  readonly questions: number;
  readonly outcome: 'elicited' | 'cancelled';
  readonly says: string;
}

export const toolCall = (name: string, args: Readonly<Record<string, unknown>>): LogicalCall => ({
  method: 'tools/call',
  params: { name, arguments: args },
});

const decline = { action: 'decline' } as const;
const cancel = { action: 'cancel' } as const;
const cancellation = (key: string) =>
  ({ outcome: 'cancelled', says: `Cancelled: the question '${key}' was not answered.` }) as const;

type Repertoire = Parameters<typeof scriptedUser>[0];
type Ending = Pick<UserScript, 'questions' | 'outcome' | 'says'>;

const weather = (name: string, units: Repertoire[string], ending: Ending): UserScript => ({
  name,
  tool: GET_WEATHER,
  call: toolCall(GET_WEATHER, { location: 'Tokyo' }),
  user: () => scriptedUser({ units }),
  ...ending,
});

const workItem = (name: string, repertoire: Repertoire, ending: Ending): UserScript => ({
  name,
  tool: RESOLVE_WORK_ITEM,
  call: toolCall(RESOLVE_WORK_ITEM, { id: 4522, state: 'Resolved' }),
  user: () => scriptedUser(repertoire),
  ...ending,
});

const METRIC = { outcome: 'elicited', says: 'Weather in Tokyo: 22°C, partly cloudy.' } as const;
const IMPERIAL = { outcome: 'elicited', says: 'Weather in Tokyo: 72°F, partly cloudy.' } as const;
const FIXED = { outcome: 'elicited', says: '#4522 resolved as Fixed.' } as const;
const DUPLICATE = { outcome: 'elicited', says: '#4522 resolved as Duplicate of #4301.' } as const;

export const SCRIPTS = [
  weather('metric', ['metric'], { questions: 1, ...METRIC }),
  weather('imperial', ['imperial'], { questions: 1, ...IMPERIAL }),
  weather('decline', [decline], { questions: 1, ...cancellation('units') }),
  weather('cancel', [cancel], { questions: 1, ...cancellation('units') }),
  weather('nonsense', ['kelvin', 'metric'], { questions: 2, ...METRIC }),
  weather('silence', ['silence', 'metric'], { questions: 2, ...METRIC }),
  workItem('fixed', { resolution: ['Fixed'] }, { questions: 1, ...FIXED }),
  workItem('duplicate', { resolution: ['Duplicate'], original: ['4301'] }, { questions: 2, ...DUPLICATE }),
  workItem('decline', { resolution: [decline] }, { questions: 1, ...cancellation('resolution') }),
  workItem('cancel', { resolution: [cancel] }, { questions: 1, ...cancellation('resolution') }),
  workItem(
    'decline-late',
    { resolution: ['Duplicate'], original: [decline] },
    { questions: 2, ...cancellation('original') },
  ),
  workItem(
    'nonsense',
    { resolution: ['Broken', 'Duplicate'], original: ['0', '4301'] },
    { questions: 4, ...DUPLICATE },
  ),
  workItem('silence', { resolution: ['silence', 'Fixed'] }, { questions: 2, ...FIXED }),
];

/** Finds a script by its name and its tool. */
export function findScript(name: string, tool: string = GET_WEATHER) {
  const found = SCRIPTS.find((script) => script.name === name && script.tool === tool);
  if (!found) throw new Error(`There is no script '${name}' for ${tool}.`);
  return found;
}
