/** New arguments for each call, for an effect that happens once for the same arguments (`--vary`). */
import { choicesIn } from '../observations/forms.ts';
import { Undecided } from '../session/session.ts';
import { canonical, isObject, type JsonObject, mapMembers, objectAt } from '../wire/json.ts';
import { type Operation, UsageError } from './target.ts';

export class Variation {
  readonly #base: Operation;
  readonly #vary: string | JsonObject;
  readonly #schema: () => unknown;
  #calls = 0;

  /** `vary`: the name of an argument, or a list of values for each argument. @throws UsageError if it names no argument */
  constructor(base: Operation, vary: string | JsonObject, schema: () => unknown) {
    this.#base = base;
    this.#vary = vary;
    this.#schema = schema;
    const names = Object.keys(base.arguments);
    const unknown = (isObject(vary) ? Object.keys(vary) : [vary]).find((name) => !names.includes(name));
    if (unknown !== undefined)
      throw new UsageError(
        `--vary: '${unknown}' is no argument of the call. Those of --arguments are: ${names.join(', ') || 'none'}.`,
      );
  }

  /** The values of the next call. @throws Undecided if a list has no more */
  next(): JsonObject {
    const at = this.#calls++;
    if (typeof this.#vary === 'string') return { [this.#vary]: this.#valueOf(this.#vary, at) };
    return mapMembers(this.#vary, (values, name) => {
      if (Array.isArray(values) && at < values.length) return values[at];
      throw new Undecided(
        `the list of '${name}' of --vary has no value for call ${at + 1}: give a longer one`,
      );
    });
  }

  /** Puts the values into a call, also of another operation, where it has the arguments of the call itself. */
  apply(operation: Operation, values: JsonObject): Operation {
    const { arguments: base } = this.#base;
    const isBase = (value: unknown, name: string) =>
      Object.hasOwn(values, name) && canonical(value) === canonical(base[name]);
    const varied = mapMembers(operation.arguments, (value, name) =>
      isBase(value, name) ? values[name] : value,
    );
    return { ...operation, arguments: varied };
  }

  /** The value with a number, or the next choice of the schema. The first call counts too, so that all look alike. */
  #valueOf(name: string, at: number) {
    const choices = choicesIn(objectAt(objectAt(this.#schema(), 'properties'), name));
    const value = this.#base.arguments[name];
    if (choices.length > 0) return choices[at % choices.length];
    return typeof value === 'number' ? value + at : `${value}-${at + 1}`;
  }
}
