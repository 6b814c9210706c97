/** Declarations: a resolver, its needs, and its value. */
import type { AnswerOf, Answers, Question, Questions, Settled } from '@mrtr/core';
import type { HandlerContext } from '../kit/handler-context.ts';

/** A need: the tool's argument of this name. Made by {@link argument}. */
export class Argument<T> {
  /** Only a type. */
  declare readonly type: T;
  readonly name: string | undefined;
  constructor(name: string | undefined) {
    this.name = name;
  }
}

/** The tool's argument `name`; without one, the argument that is called as the need is. */
export const argument = <T>(name?: string): Argument<T> => new Argument<T>(name);

/** A need: the context of the round. Made by {@link requestContext}. */
export class RequestContext {
  /** Tells the class from others without members. */
  readonly need = 'context';
}

/** The context of the round, for a resolver that uses it (`canAsk`, the access token). */
export const requestContext = (): RequestContext => new RequestContext();

/** A consumer's request for the whole outcome. Made by {@link outcome}. */
export class Outcome<T> {
  readonly resolver: Resolver<T>;
  constructor(resolver: Resolver<T>) {
    this.resolver = resolver;
  }
}

/** Takes a resolver's full outcome (accepted, declined or cancelled) where its plain value would end the call. */
export const outcome = <T>(resolver: Resolver<T>): Outcome<T> => new Outcome(resolver);

/** A resolver, for its plain value, or the outcome of one. */
// biome-ignore lint/suspicious/noExplicitAny: a bound that every resolver fits; values keep their own types.
export type Resolvable = Resolver<any> | Outcome<any>;

/** The needs of a resolver, under the names that its function uses. */
// biome-ignore lint/suspicious/noExplicitAny: the same.
export type Needs = Readonly<Record<string, Resolvable | Argument<any> | RequestContext>>;

/** The value that fills a need. */
export type Filled<N> =
  N extends Resolver<infer T>
    ? T
    : N extends Outcome<infer T>
      ? Settled<T>
      : N extends Argument<infer T>
        ? T
        : N extends RequestContext
          ? HandlerContext
          : never;

/** The values that fill all needs. */
export type FilledAll<N> = { readonly [Name in keyof N]: Filled<N[Name]> };

/** The value of a resolver whose function returns `R`. */
export type ValueOf<R> = R extends Question ? AnswerOf<R> : R extends Questions ? Answers<R> : R;

/** Computes one value, or asks for it. Made by {@link resolver}; compared by identity. */
export class Resolver<T> {
  /** Only a type. */
  declare readonly value: T;
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
 * @param name names its question, so it is unique within a tool.
 * @param needs other resolvers (plain or as `outcome`), `argument`s of the tool, the `requestContext`; or a function
 * that gives them, to name a resolver that is declared further down.
 * @param fn returns, at once or as a promise, the value, or a question (or a record
 * of questions) whose accepted answer is the value. It runs in each round of a call, so it should have no effects.
 * @example
 * const units = resolver('units', { location: argument<string>() }, ({ location }) =>
 *   elicitation(`Which units for ${location}?`, Units));
 */
export function resolver<const N extends Needs, R>(
  name: string,
  needs: N | (() => N),
  fn: (needs: FilledAll<N>) => R,
): Resolver<ValueOf<Awaited<R>>> {
  return new Resolver(name, needs, fn as (needs: never) => unknown);
}
