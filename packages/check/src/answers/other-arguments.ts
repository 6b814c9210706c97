/** Derives other valid arguments, and arguments of a second operation, from given ones and the input schema. */
import fc from 'fast-check';
import { choicesIn } from '../observations/forms.ts';
import type { Operation } from '../target/target.ts';
import { asList, asObject, canonical, isObject, type JsonObject, objectAt } from '../wire/json.ts';
import { validContent, valueFor } from './generate.ts';
import { fits } from './schema.ts';

/** Changes one of `names`, preferably one with a closed set of values: the server most likely accepts those. */
export function otherArgumentsFrom(
  schema: unknown,
  args: JsonObject,
  seed: number,
  names: readonly string[] = Object.keys(args),
) {
  const properties = Object.entries(objectAt(schema, 'properties'));
  const known = properties.filter(([name]) => names.includes(name));
  const closedFirst = known.toSorted(([, a], [, b]) => choicesIn(b).length - choicesIn(a).length);
  for (const [name, property] of closedFirst) {
    for (const value of alternatives(property, args[name], seed)) {
      const other = { ...args, [name]: value };
      if (canonical(other) !== canonical(args) && fits(schema, other)) return other;
    }
  }
  return undefined;
}

function alternatives(property: unknown, value: unknown, seed: number) {
  const choices = choicesIn(property);
  if (choices.length > 0) return choices;
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1];
  if (typeof value === 'string') {
    const examples = asList(asObject(property).examples);
    return [...examples, `${value}-new`, `${value}2`, ...fc.sample(valueFor(property), { seed, numRuns: 3 })];
  }
  return fc.sample(valueFor(property), { seed, numRuns: 5 });
}

/** A call of another operation, and the arguments of the call whose state it receives. */
export interface OtherCall {
  readonly operation: Operation;
  readonly own: JsonObject;
}

/**
 * Calls of another operation, in the order in which they are tried. The first have arguments that fit both operations,
 * to find servers that bind state only to the arguments.
 */
export function callsOf(other: Operation, schema: unknown, own: Operation, ownSchema: unknown, seed: number) {
  const isGiven = Object.keys(other.arguments).length > 0;
  const made = { ...validContent(schema, seed), ...own.arguments };
  const known = Object.entries(made).filter(([name]) => name in objectAt(schema, 'properties'));
  const shared = [own.arguments, { ...made, ...other.arguments, ...own.arguments }].filter(
    (one) => takes(other, schema, one) && (one === own.arguments || takes(own, ownSchema, one)),
  );
  const others =
    isGiven || fits(schema, {}) ? [other.arguments] : [Object.fromEntries(known), validContent(schema, seed)];
  const callWith = (args: JsonObject, ofOwn: JsonObject) => ({
    operation: { ...other, arguments: args },
    own: ofOwn,
  });
  const all = [
    ...shared.map((one) => callWith(one, one)),
    ...others.map((one) => callWith(one, own.arguments)),
  ];
  return [...new Map(all.map((call) => [canonical(call), call])).values()];
}

const takes = ({ kind }: Operation, schema: unknown, args: JsonObject) =>
  kind === 'tool'
    ? isObject(schema) && fits(schema, args)
    : kind === 'prompt' && Object.values(args).every((one) => typeof one === 'string');
