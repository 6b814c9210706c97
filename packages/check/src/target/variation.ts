/** New arguments for each call, for an effect that happens once for the same arguments (`--vary`). */
import { choicesIn } from '../observations/forms.ts';
import { Undecided } from '../session/session.ts';
import { canonical, isObject, type JsonObject, mapMembers, objectAt } from '../wire/json.ts';
import { type Operation, UsageError } from './target.ts';

/** `vary`: the name of an argument, or a list of values for each argument. @throws UsageError if it names no argument */
export function createVariation(base: JsonObject, vary: string | JsonObject, schema: () => unknown) {
  const names = Object.keys(base);
  const unknown = (isObject(vary) ? Object.keys(vary) : [vary]).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--vary: '${unknown}' is no argument of the call. Those of --arguments are: ${names.join(', ') || 'none'}.`,
    );
  // New in each run, because a bank remembers what it paid in the last one.
  const run = Date.now().toString(36);
  let calls = 0;

  /** The value with a number, or the next choice of the schema. The first call counts too, so that all look alike. */
  function nextValue(name: string, at: number) {
    const choices = choicesIn(objectAt(objectAt(schema(), 'properties'), name));
    const value = base[name];
    if (choices.length > 0) return choices[at % choices.length];
    return typeof value === 'number' ? value + at : `${value}-${run}-${at + 1}`;
  }

  /** Another value of the argument, changed as its own one was. A value from a list stays: a list has no others. */
  function likewise(name: string, value: unknown, varied: unknown) {
    const own = base[name];
    if (typeof value === 'number' && typeof own === 'number') return value + Number(varied) - own;
    const isNumbered = typeof vary === 'string' && `${varied}`.startsWith(`${own}-`);
    return isNumbered && typeof value === 'string' ? `${value}${`${varied}`.slice(`${own}`.length)}` : value;
  }

  return {
    /** The values of the next call. @throws Undecided if a list has no more */
    next() {
      const at = calls++;
      if (typeof vary === 'string') return { [vary]: nextValue(vary, at) };
      return mapMembers(vary, (values, name) => {
        if (Array.isArray(values) && at < values.length) return values[at];
        throw new Undecided(
          `the list of '${name}' of --vary has no value for call ${at + 1}: give a longer one`,
        );
      });
    },
    /** Puts the values into a call. A call with other arguments, also of another operation, gets new ones of its own. */
    apply(operation: Operation, values: JsonObject) {
      const varied = mapMembers(operation.arguments, (value, name) => {
        if (!Object.hasOwn(values, name)) return value;
        return canonical(value) === canonical(base[name])
          ? values[name]
          : likewise(name, value, values[name]);
      });
      return { ...operation, arguments: varied };
    },
  };
}
