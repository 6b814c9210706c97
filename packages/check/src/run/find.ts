/** `--find`: lists the tools, prompts and resources of a server that ask. Calls nothing that may have effects, unless it is allowed. */
import { escapeHidden } from '@mrtr/harness/internal';
import { asText } from '@mrtr/harness/transcript';
import { createAnswerer } from '../answers/answerer.ts';
import { choicesIn, listRequired } from '../observations/forms.ts';
import { quote } from '../report/shell.ts';
import { forLog } from '../report/text.ts';
import { inWorker, unlessUnreadable } from '../sandbox.ts';
import { Session, type SessionContext } from '../session/session.ts';
import { type CompleteInputs, nameOf, type Operation, UsageError } from '../target/target.ts';
import { asList, asObject, type JsonObject, mapMembers, objectAt, shorten } from '../wire/json.ts';
import type { ReplyOutcome } from '../wire/outcome.ts';
import { type Served, withServer } from './limit.ts';
import { catchUndecided, isReadOnly, list, requireRevision } from './prepare.ts';
import { MAX_SECONDS } from './run.ts';

/** One operation, with the result of trying it. */
export interface Found {
  readonly operation: Operation;
  readonly readOnly: boolean;
  readonly asks: 'asks' | 'does not ask' | 'not tried';
  readonly words: string;
}

const MAX_LISTED = 200;
const MAX_SHOWN = 300;
const MAX_OPTIONS = 2000;

/** What a server lists, and the operations that were tried: all, or the first ones. */
export interface FoundAll {
  readonly found: readonly Found[];
  readonly listed: number;
}

const KINDS = ['tool', 'prompt', 'resource'] as const;

/**
 * Lists the operations of a server and tries those that only read, or with `allowEffects` all. Declines what they ask.
 * Returns the reason if it cannot.
 *
 * @throws UsageError if the server gives none of its lists
 */
export async function findAsking(
  inputs: Pick<CompleteInputs, 'address' | 'seed' | 'timeoutSeconds' | 'mostSeconds'>,
  allowEffects = false,
): Promise<FoundAll | string> {
  const { mostSeconds = MAX_SECONDS, seed } = inputs;
  const find = async ({ fleet, limit }: Served) => {
    const context: SessionContext = {
      instance: fleet.first,
      operation: { kind: 'tool', name: '', arguments: {} },
      answerer: createAnswerer({ '*': { action: 'decline' } }, true, seed),
      schemaOf: () => undefined,
      record: () => {},
    };
    await limit.within(() => requireRevision(context));
    const entries: { readonly kind: Operation['kind']; readonly entry: JsonObject }[] = [];
    let lists = 0;
    for (const kind of KINDS) {
      const listed = await limit.within(() => list(context, kind));
      if (listed) lists++;
      entries.push(...(listed ?? []).map((entry) => ({ kind, entry })));
    }
    if (lists === 0)
      throw new UsageError(
        'The server answers none of tools/list, prompts/list and resources/list with a list. If it shows them only to ' +
          'some callers, give credentials with --header.',
      );
    const found: Found[] = [];
    for (const { kind, entry } of entries.slice(0, MAX_LISTED)) {
      await fleet.revive();
      found.push(await limit.within(() => tryOut(kind, entry, context, seed, allowEffects)));
    }
    return { found, listed: entries.length };
  };
  return withServer(inputs, mostSeconds, find).catch((error) => catchUndecided(error).message);
}

async function tryOut(
  kind: Operation['kind'],
  entry: JsonObject,
  context: SessionContext,
  seed: number,
  allowEffects: boolean,
): Promise<Found> {
  const name = asText(kind === 'resource' ? entry.uri : entry.name);
  const readOnly = isReadOnly({ kind }, entry);
  const args = await unlessUnreadable(argumentsFor(kind, entry, seed));
  const operation = { kind, name, arguments: args ?? {} };
  const leave = (words: string): Found => ({ operation, readOnly, asks: 'not tried', words });
  if (!readOnly && !allowEffects) return leave(NOT_CALLED);
  if (!args) return leave('its input schema cannot be read');
  const schemaOf = () => (kind === 'tool' ? entry.inputSchema : undefined);
  const session = new Session({ ...context, schemaOf }, { operation });
  const outcome = await session.first();
  // The tool may hold a lock until it gets an answer.
  if (outcome.kind === 'asked') await session.retry();
  return { operation, readOnly, ...readEnding(outcome) };
}

const NOT_CALLED = 'not called, because it does not declare readOnlyHint';

/** The words of a result that is one number, as that of a probe. */
const COUNT = /^completed: "\d{1,9}"$/;

function readEnding(outcome: ReplyOutcome): Pick<Found, 'asks' | 'words'> {
  if (outcome.kind === 'asked') {
    const keys = Object.keys(outcome.requests);
    return { asks: 'asks', words: keys.length > 0 ? keys.join(', ') : 'nothing yet: it sends state alone' };
  }
  const words = `${outcome}`;
  // Other results may hold what no log should, such as the environment.
  if (outcome.kind === 'completed')
    return { asks: 'does not ask', words: COUNT.test(words) ? words : 'completed' };
  return { asks: 'not tried', words: `with generated arguments it came to ${words}` };
}

/** The required arguments, or all if those alone do not fit. Prefers the schema's defaults and examples. */
async function argumentsFor(kind: Operation['kind'], entry: JsonObject, seed: number) {
  if (kind === 'resource') return {};
  if (kind === 'prompt') {
    const required = asList(entry.arguments)
      .map(asObject)
      .filter((one) => one.required === true);
    return Object.fromEntries(required.map(({ name }) => [asText(name), asText(name)]));
  }
  const schema = entry.inputSchema;
  const made = await inWorker('validContent', schema, seed);
  const properties = objectAt(schema, 'properties');
  const all = mapMembers(made, (value, name) => plainValue(objectAt(properties, name), value, name));
  const required = listRequired(schema);
  const least = mapMembers(all, (value, name) => (required.includes(name) ? value : undefined));
  for (const plain of [least, all]) if (await inWorker('fits', schema, plain)) return plain;
  return made;
}

/** A value that a reader expects there: the default, an example, the first choice, `false`, the least number, or the name. */
function plainValue(property: JsonObject, made: unknown, name: string) {
  const [example = choicesIn(property)[0]] = asList(property.examples);
  const text = property.format === undefined ? name : made;
  const plain = { boolean: false, number: property.minimum ?? 1, string: text }[typeof made as 'string'];
  return property.default ?? example ?? property.const ?? plain ?? made;
}

const CALL_TOO =
  '\nWith --allow-effects, --find calls the others too, once each, and declines what they ask. Do that on data that may change.';

/** The options of a run that checks it. */
function optionsFor({ operation, readOnly }: Found) {
  const { kind, name, arguments: args } = operation;
  const given = Object.keys(args).length > 0 ? ['--arguments', JSON.stringify(args)] : [];
  const allowed = readOnly ? [] : ['--allow-effects'];
  return [`--${kind}`, name, ...given, '--generate-answers', ...allowed].map(quote).join(' ');
}

/** The output of `--find`. */
export function foundText({ found, listed }: FoundAll) {
  const lines = found.map((one) => {
    const { operation, asks, words } = one;
    const given = Object.keys(operation.arguments).length > 0 && asks !== 'not tried';
    const args = given ? `  with ${JSON.stringify(operation.arguments)}` : '';
    const line = `${asks.padEnd(13)} ${nameOf(operation).padEnd(30)} ${words}${args}`;
    return escapeHidden(shorten(line, MAX_SHOWN));
  });
  const first =
    found.length === listed
      ? ''
      : ` The server lists ${listed}, and only the first ${MAX_LISTED} were looked at: name another one with --tool.`;
  const count = (kind: Found['asks']) => found.filter(({ asks }) => asks === kind).length;
  const untried = count('not tried');
  const asking = found.find(({ asks }) => asks === 'asks');
  const check = asking ? `\nTo check one: ${escapeHidden(shorten(optionsFor(asking), MAX_OPTIONS))}` : '';
  const call = found.some(({ words }) => words === NOT_CALLED) ? CALL_TOO : '';
  return forLog(
    `${lines.join('\n')}\n\n${count('asks')} of ${found.length} ask, ${untried} ${untried === 1 ? 'was' : 'were'} not tried.${first}${check}${call}\n`,
  );
}
