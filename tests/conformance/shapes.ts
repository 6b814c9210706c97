/** The shapes that the suite is run against: options, with the suite's fixture in place of the two example tools. */
import type { RequestStatePolicy } from '@mrtr/core';
import type { ServerInstance } from '@mrtr/hosting/http';
import { findOption, type ListedOption, OPTIONS } from '@mrtr/options';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { guardFirst } from './e.ts';
import { onceFixture } from './f.ts';
import { type Fixture, serverWith } from './fixture.ts';
import { toolBuilderFixture } from './g.ts';
import { linearFixture } from './h.ts';
import { resolveFixture } from './i.ts';
import { journalFixture } from './j.ts';

/** By the option's id. */
const FIXTURES: Readonly<Record<string, (store: ContinuationStore) => Fixture>> = {
  e: () => guardFirst,
  f: () => onceFixture,
  g: () => toolBuilderFixture,
  h: linearFixture,
  i: () => resolveFixture,
  j: () => journalFixture,
};

/** A shape, named as its option is. */
export type Shape = Pick<ListedOption, 'id' | 'name' | 'title'>;

/** The shapes in the order of the options. */
export const SHAPES: readonly Shape[] = OPTIONS.filter(({ id }) => id in FIXTURES);

/** The shape with this letter or word; undefined for an option without a fixture. */
export const findShape = (name: string): Shape | undefined => {
  const option = findOption(name);
  return SHAPES.find(({ id }) => id === option?.id);
};

/** The fixture in `shape`, ready to be hosted. */
export function servedIn({ id }: Shape, policy: RequestStatePolicy): ServerInstance {
  const store = new ContinuationStore();
  const fixture = (FIXTURES[id] as (store: ContinuationStore) => Fixture)(store);
  return { server: () => serverWith(fixture, policy), close: () => store.close() };
}
