/** The shapes that the suite is run against, by their letters. */
import type { RequestStatePolicy } from '@mrtr/core';
import type { Served } from '@mrtr/hosting/http';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { guardFirst } from './e.ts';
import { onceFixture } from './f.ts';
import { type Fixture, serverWith } from './fixture.ts';
import { toolBuilderFixture } from './g.ts';
import { linearFixture } from './h.ts';
import { resolveFixture } from './i.ts';
import { journalFixture } from './j.ts';

export const SHAPES = ['e', 'f', 'g', 'h', 'i', 'j'] as const;
export type Shape = (typeof SHAPES)[number];

/** Whether `text` is the letter of a shape. */
export const isShape = (text: string | undefined): text is Shape =>
  (SHAPES as readonly (string | undefined)[]).includes(text);

/** The fixture in `shape`, ready to be hosted. */
export function servedIn(shape: Shape, policy: RequestStatePolicy): Served {
  const store = new ContinuationStore();
  const fixtures: Readonly<Record<Shape, Fixture>> = {
    e: guardFirst,
    f: onceFixture,
    g: toolBuilderFixture,
    h: linearFixture(store),
    i: resolveFixture,
    j: journalFixture,
  };
  return { server: () => serverWith(fixtures[shape], policy), close: () => store.close() };
}
