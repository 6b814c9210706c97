/** Declarations: a resolver, its needs, and its value. */
import type { AnswerOf, Answers, Question, Questions } from '@mrtr/core';
import type { Settled } from '@mrtr/core/shape';
import type { HandlerContext } from '../kit/handler-context.ts';

/** A need: one of the tool's arguments. `Named` is true if the argument has another name than the need. */
export class Argument<T, Named extends boolean = boolean> {
  /** Tells the class from others, also where two copies of this package are loaded. */
  readonly need = 'argument';
  /** Only types. */
  declare readonly type: T;
  declare readonly named: Named;
  readonly name: string | undefined;
  constructor(name: string | undefined) {
    this.name = name;
  }
}

/**
 * The tool's argument with the name of the need, or with the name `name`. In the first case the compiler compares `T`
 * with the input schema; it cannot see a `name`.
 *
 * @example resolver('price', { item: argument<string>(), count: argument<number>('quantity') }, ({ item, count }) => …)
 */
export function argument<T>(): Argument<T, false>;
export function argument<T>(name: string): Argument<T, true>;
export function argument<T>(name?: string): Argument<T> {
  return new Argument<T>(name);
}

/** A need: the context of the round. Made by {@link requestContext}. */
export class RequestContext {
  readonly need = 'context';
}

/** The context of the round, for a resolver that uses it (`canAsk`, the access token). */
export const requestContext = (): RequestContext => new RequestContext();

/** A consumer's request for the whole outcome. Made by {@link outcome}. */
export class Outcome<T, W = unknown> {
  readonly need = 'outcome';
  readonly resolver: Resolver<T, W>;
  constructor(resolver: Resolver<T, W>) {
    this.resolver = resolver;
  }
}

/** Takes a resolver's full outcome (accepted, declined or cancelled) where its plain value would end the call. */
export const outcome = <T, W>(resolver: Resolver<T, W>): Outcome<T, W> => new Outcome(resolver);

/** A resolver, for its plain value, or the outcome of one. */
// biome-ignore lint/suspicious/noExplicitAny: a bound that every resolver fits; values keep their own types.
export type Resolvable = Resolver<any, any> | Outcome<any, any>;

/** The needs of a resolver, under the names that its function uses. */
// biome-ignore lint/suspicious/noExplicitAny: the same.
export type Needs = Readonly<Record<string, Resolvable | Argument<any, any> | RequestContext>>;

/** The value that fills a need. */
export type Filled<N> =
  N extends Resolver<infer T, infer _W>
    ? T
    : N extends Outcome<infer T, infer _W>
      ? Settled<T>
      : N extends Argument<infer T, infer _N>
        ? T
        : N extends RequestContext
          ? HandlerContext
          : never;

/** The values of all needs. */
export type FilledAll<N> = { readonly [Name in keyof N]: Filled<N[Name]> };

/** An argument that a resolver needs, itself or through others: its name and its type. */
export interface Wanted<Name, T> {
  readonly name: Name;
  readonly type: T;
}

/** The arguments that `needs` lead to. */
export type WantedBy<N> = {
  [Need in keyof N]: N[Need] extends Argument<infer T, infer Named>
    ? Named extends false
      ? Wanted<Need, T>
      : never
    : N[Need] extends Resolver<infer _T, infer W> | Outcome<infer _T, infer W>
      ? W
      : never;
}[keyof N];

/** The parameters; for a parameter that cannot be filled, the reason instead. */
export type Fitting<P, Arguments> = {
  readonly [Name in keyof P]: P[Name] extends Resolver<infer _T, infer W> | Outcome<infer _T, infer W>
    ? [Misfit<W, Arguments>] extends [never]
      ? P[Name]
      : Misfit<W, Arguments>
    : P[Name];
};

type Misfit<W, Arguments> = 0 extends 1 & W
  ? never
  : W extends Wanted<infer Name, infer T>
    ? Name extends keyof Arguments
      ? Arguments[Name] extends T
        ? never
        : `A resolver needs the argument '${Name & string}' in another type than the input schema gives it.`
      : `A resolver needs the argument '${Name & string}', which the input schema does not have.`
    : never;

/** The value of a resolver whose function returns `R`. */
export type ValueOf<R> = R extends Question ? AnswerOf<R> : R extends Questions ? Answers<R> : R;

/** Computes one value, or asks for it. Made by {@link resolver}; compared by identity. */
export class Resolver<T, W = unknown> {
  readonly need = 'resolver';
  /** Only types: the value, and the arguments that it needs. */
  declare readonly value: T;
  declare readonly wants: W;
  /** Names its recorded answer in `requestState`, and its question on the wire. */
  readonly name: string;
  readonly #needs: Needs | (() => Needs);
  readonly #fn: (needs: never) => unknown;

  constructor(name: string, needs: Needs | (() => Needs), fn: (needs: never) => unknown) {
    this.name = name;
    this.#needs = needs;
    this.#fn = fn;
  }

  get needs(): Needs {
    return typeof this.#needs === 'function' ? this.#needs() : this.#needs;
  }

  /** Runs the function. */
  run(needs: Readonly<Record<string, unknown>>): unknown {
    return this.#fn(needs as never);
  }
}

/**
 * Declares a resolver.
 *
 * @param name names the resolver's question, and must be unique within a tool.
 * @param needs other resolvers (plain or as `outcome`), `argument`s of the tool, and the `requestContext`; or a
 * function that returns them, to name a resolver that is declared further down.
 * @param fn returns the value, or a question (or a record of questions) whose accepted answer is the value; at once or
 * as a promise. It runs in each round of a call, so keep effects out of it.
 * @example
 * const units = resolver('units', { location: argument<string>() }, ({ location }) =>
 *   elicitation(`Which units for ${location}?`, Units));
 */
export function resolver<const N extends Needs, R>(
  name: string,
  needs: N | (() => N),
  fn: (needs: FilledAll<N>) => R,
): Resolver<ValueOf<Awaited<R>>, WantedBy<N>> {
  return new Resolver(name, needs, fn as (needs: never) => unknown);
}
