/** Declarations: a resolver, its needs, and its value. */
import { aFunction, aText, isObject, type OptionCheck, requireArgument } from '@mrtr/core/internal';
import type { FinalAnswer } from '@mrtr/core/shape';
import type { AskedFor } from '../kit/asked.ts';
import type { HandlerContext } from '../kit/handler-context.ts';

// Needs are plain values with a tag: they also fit where two copies of this package are loaded. The functions that make
// them return their types without a name, so that a program can export what it declares.

/** A need: one of the tool's arguments. `type` exists for the compiler only. */
type Argument<T, Name = string | undefined> = {
  readonly need: 'argument';
  readonly name: Name;
  readonly type: T;
};

/**
 * A need for the tool's argument `name`; by default the argument has the need's own name. Then TypeScript compares `T`
 * with the tool's input schema, and an argument of another type does not compile. It cannot see another `name`.
 *
 * @example resolver('price', { item: argument<string>(), count: argument<number>('quantity') }, ({ item, count }) => …)
 */
export function argument<T>(): { readonly need: 'argument'; readonly name: undefined; readonly type: T };
export function argument<T>(name: string): {
  readonly need: 'argument';
  readonly name: string;
  readonly type: T;
};
export function argument(name?: string): object {
  return { need: 'argument', name };
}

type RequestContext = ReturnType<typeof requestContext>;

/** A need: the context of the round, for a resolver that uses it (`canAsk`, the access token). */
export const requestContext = () => ({ need: 'context' }) as const;

/** A consumer's request for the whole outcome. */
type Outcome<T, Arguments = unknown> = {
  readonly need: 'outcome';
  readonly resolver: Resolver<T, Arguments>;
};

/** Takes a resolver's full outcome (accepted, declined or cancelled) where its plain value would end the call. */
export const outcome = <T, Arguments>(resolver: Resolver<T, Arguments>) =>
  ({ need: 'outcome', resolver }) as const;

/** A resolver, for its plain value, or the outcome of one, that fits a tool with these `Arguments`; default: any tool. */
export type Resolvable<Arguments = unknown> = Resolver<unknown, Arguments> | Outcome<unknown, Arguments>;

/** The needs of a resolver, under the names that its function uses. */
export type Needs = Readonly<Record<string, Resolvable<never> | Argument<unknown> | RequestContext>>;

/** The value that fills a need. */
type Filled<N> =
  N extends Resolver<infer T, never>
    ? T
    : N extends Outcome<infer T, never>
      ? FinalAnswer<T>
      : N extends Argument<infer T>
        ? T
        : N extends RequestContext
          ? HandlerContext
          : never;

/** The values of all needs. */
export type FilledAll<N> = { readonly [Name in keyof N]: Filled<N[Name]> };

/** The tool's arguments that needs take, themselves and through other resolvers. */
export type ArgumentsOf<N> = {
  [Name in keyof N]: (
    toolArguments: N[Name] extends Argument<infer T, undefined>
      ? undefined extends T
        ? { readonly [_ in Name]?: T }
        : { readonly [_ in Name]: T }
      : N[Name] extends Resolver<unknown, infer A> | Outcome<unknown, infer A>
        ? A
        : unknown,
  ) => void;
}[keyof N] extends (toolArguments: infer All) => void
  ? All
  : never;

/** Computes one value, or asks for it. Made by {@link resolver}; compared by identity. */
export class Resolver<T, Arguments = unknown> {
  readonly need = 'resolver';
  /** Only types: a resolver fits each tool that has its arguments. */
  declare readonly value: T;
  declare readonly takes: (toolArguments: Arguments) => void;
  /** Names its recorded answer in `requestState`, and its question on the wire. */
  readonly name: string;
  readonly needs: Needs;
  readonly #fn: (needs: never) => unknown;

  constructor(name: string, needs: Needs, fn: (needs: never) => unknown) {
    this.name = name;
    this.needs = needs;
    this.#fn = fn;
  }

  /** Runs the function. */
  run(needs: Readonly<Record<string, unknown>>): unknown {
    return this.#fn(needs as never);
  }
}

/**
 * Checks an object that is not a list.
 *
 * @internal
 */
export const aRecordOf = (members: string): OptionCheck => ({
  allowed: `an object with ${members}`,
  isAllowed: isObject,
});

/**
 * Declares a resolver.
 *
 * @param name names the resolver's question, and must be unique within a tool.
 * @param needs other resolvers (plain or as `outcome`), `argument`s of the tool, and the `requestContext`.
 * @param fn returns the value, or a question (or a record of questions) whose accepted answer is the value; at once or
 * as a promise. It runs in each round of a call, so keep effects out of it.
 * @throws InvalidOption for an invalid name, invalid needs, or a missing function.
 * @example
 * const units = resolver('units', { location: argument<string>() }, ({ location }) =>
 *   elicitation(words`Which units for ${location}?`, Units));
 */
export const resolver = <const N extends Needs, R>(
  name: string,
  needs: N,
  fn: (needs: FilledAll<N>) => R,
): Resolver<AskedFor<Awaited<R>>, ArgumentsOf<N>> => {
  requireArgument('resolver', 'name', name, aText);
  requireArgument(
    `resolver '${name}'`,
    'needs',
    needs,
    aRecordOf('a resolver, an argument or the context for each need'),
  );
  requireArgument(`resolver '${name}'`, 'fn', fn, aFunction);
  return new Resolver(name, needs, fn as (needs: never) => unknown);
};
