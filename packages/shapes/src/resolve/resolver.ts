/** Declarations: what a resolver is, what it may need, and what it may return. */
import {
  type CreateMessageRequest,
  type CreateMessageResult,
  elicitation,
  type ListRootsResult,
  type Question,
  listRoots as rootsQuestion,
  type ServerContext,
  type Settled,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
  sampling,
} from '@mrtr/core';

/** What a resolver returns to have the client asked instead of giving a value itself. */
export class Ask<T> {
  readonly question: Question<T>;
  constructor(question: Question<T>) {
    this.question = question;
  }
}

/** Returned by a resolver: its value is the user's validated answer to `message`. */
export const elicit = <S extends StandardSchemaWithJSON>(
  message: string,
  schema: S,
): Ask<StandardSchemaV1.InferOutput<S>> => new Ask(elicitation(message, schema));

/** Returned by a resolver: its value is what the client's model says. */
export const sample = (params: CreateMessageRequest['params']): Ask<CreateMessageResult> =>
  new Ask(sampling(params));

/** Returned by a resolver: its value is the client's roots. */
export const listRoots = (): Ask<ListRootsResult> => new Ask(rootsQuestion());

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

/** A need: the SDK's context of the request. Made by {@link requestContext}. */
export class RequestContext {
  /** Tells the class from others without members. */
  readonly need = 'context';
}

/** The SDK's context of the request, for a resolver that has to look at it (`canAsk`, the access token). */
export const requestContext = (): RequestContext => new RequestContext();

/** A consumer's wish for everything that can have happened. Made by {@link outcome}. */
export class Outcome<T> {
  readonly resolver: Resolver<T>;
  constructor(resolver: Resolver<T>) {
    this.resolver = resolver;
  }
}

/** Takes a resolver's full outcome (accepted, declined or cancelled) where its plain value would end the call. */
export const outcome = <T>(resolver: Resolver<T>): Outcome<T> => new Outcome(resolver);

/** What a consumer may ask of a resolver: its plain value, or its outcome. */
// biome-ignore lint/suspicious/noExplicitAny: a bound that every resolver fits; values keep their own types.
export type Resolvable = Resolver<any> | Outcome<any>;

/** Everything that a resolver may need, by the names that its function knows it under. */
// biome-ignore lint/suspicious/noExplicitAny: the same.
export type Needs = Readonly<Record<string, Resolvable | Argument<any> | RequestContext>>;

/** What a need is filled with. */
export type Filled<N> =
  N extends Resolver<infer T>
    ? T
    : N extends Outcome<infer T>
      ? Settled<T>
      : N extends Argument<infer T>
        ? T
        : N extends RequestContext
          ? ServerContext
          : never;

/** What all needs are filled with. */
export type FilledAll<N> = { readonly [Name in keyof N]: Filled<N[Name]> };

/** The value of a resolver whose function returns `R`. */
export type ValueOf<R> = R extends Ask<infer T> ? T : R;

/** One way to a value. Made by {@link resolver}; known by identity. */
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
 * @param fn at once or as a promise: the value, or `elicit(...)`, `sample(...)`, `listRoots()`. It runs in each round
 * of a call, so it should have no effects.
 * @example
 * const units = resolver('units', { location: argument<string>() }, ({ location }) =>
 *   elicit(`Which units for ${location}?`, Units));
 */
export function resolver<const N extends Needs, R>(
  name: string,
  needs: N | (() => N),
  fn: (needs: FilledAll<N>) => R,
): Resolver<ValueOf<Awaited<R>>> {
  return new Resolver(name, needs, fn as (needs: never) => unknown);
}
