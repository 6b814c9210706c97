/** All demos by name. A demo is loaded only when it runs. */

import type { Subject } from '@mrtr/comparison/calls';
import { findOption, type ListedOption, loadOption, OPTIONS } from '@mrtr/comparison/options';
import type { Settings } from './settings.ts';
import type { Stage } from './stage.ts';

export type Flag =
  | 'tool'
  | 'shape'
  | 'client'
  | 'hosting'
  | 'answer'
  | 'legacy'
  | 'postgres'
  | 'deploy'
  | 'json'
  | 'mermaid';

export interface Demo {
  /** The name in lists and headings: `basic`, `option-g`. */
  readonly name: string;
  readonly title: string;
  readonly takes: readonly Flag[];
  /** Set if it is an option, with both tools. */
  readonly option?: ListedOption;
  /** The place where it runs, if the command line cannot choose it. */
  readonly where?: string;
  readonly shapes?: readonly string[];
  /** The subjects: one, or one for each shape. Absent if the demo draws itself. */
  readonly load?: () => Promise<readonly Subject[]>;
  readonly drawItself?: (stage: Stage, settings: Settings) => Promise<number>;
}

const WHERE: readonly Flag[] = ['client', 'hosting', 'legacy'];
const CONVERSATION: readonly Flag[] = [...WHERE, 'answer', 'json', 'mermaid'];

/** The options that have their own demo; the others are variants of one. */
export const LETTERED = OPTIONS.filter(({ id }) => id.length === 1);

const ofOption = (option: ListedOption): Demo => ({
  name: `option-${option.id}`,
  title: option.title,
  takes: ['tool', ...CONVERSATION, ...(option.id === 'h' ? (['postgres'] as const) : []), 'deploy'],
  option,
  load: async () => [await loadOption(option)],
});

const program = (name: string, title: string, load: () => Promise<{ createServer: Server }>): Demo => ({
  name,
  title,
  takes: CONVERSATION,
  load: async () => {
    const { standalone } = await import('@mrtr/comparison/calls');
    return [standalone(name, title, (await load()).createServer)];
  },
});
type Server = Parameters<typeof import('@mrtr/comparison/calls').standalone>[2];

const writeTo =
  ({ terminal }: Stage) =>
  (text: string) =>
    terminal.stdout.writePainted(text);

export const DEMOS: readonly Demo[] = [
  program('basic', 'one question, one retry', () => import('@mrtr/demo-basic')),
  program('basic-multiround', 'two questions', () => import('@mrtr/demo-basic-multiround')),
  ...LETTERED.map(ofOption),
  {
    name: 'prompt-and-resource',
    title: 'each asks a user',
    takes: ['shape', ...WHERE, 'answer'],
    shapes: ['f', 'h', 'i', 'j'],
    load: async () => (await import('@mrtr/demo-prompt-and-resource')).SHAPES,
  },
  {
    name: 'sampling-and-roots',
    title: 'a tool needs both',
    takes: ['shape', ...WHERE],
    shapes: ['i', 'j'],
    load: async () => (await import('@mrtr/demo-sampling-and-roots')).SHAPES,
  },
  {
    name: 'link-account',
    title: 'a page on another site',
    takes: ['shape', 'answer'],
    where: 'modern client · over HTTP',
    shapes: ['g', 'h', 'j'],
    load: async () => (await import('@mrtr/demo-link-account')).SHAPES,
  },
  {
    name: 'approve',
    title: 'what a yes proves',
    takes: ['shape'],
    where: 'five clients · in memory',
    shapes: ['g', 'j'],
    drawItself: async (stage, { shape }) => (await import('./approve.ts')).approve(stage, shape),
  },
  {
    name: 'tracing',
    title: "a call's OpenTelemetry spans",
    takes: [],
    where: 'modern client · in memory',
    drawItself: async (stage) => (await import('./tracing.ts')).tracing(stage.paint, writeTo(stage)),
  },
];

/** The demo of the option with this name, letter or word: `option-g`, `g`, `tool-builder`. */
export function optionDemo(name: string): Demo | undefined {
  const option = findOption(name);
  return option && DEMOS.find((demo) => demo.option === option);
}

/** The subjects of a demo; `shape` picks one of its shapes, `postgres` keeps an option's calls in a database. */
export async function loadSubjects(
  demo: Demo,
  shape?: string,
  postgres?: string,
): Promise<readonly Subject[]> {
  if (demo.option && postgres !== undefined) return [await loadOnPostgres(postgres)];
  const subjects = (await demo.load?.()) ?? [];
  return subjects.filter(({ id }) => shape === undefined || id === shape);
}

export async function loadOnPostgres(postgres: string) {
  const { onPostgres } = await import('@mrtr/comparison/calls');
  return onPostgres(await loadOption(findOption('h-postgres') as ListedOption), postgres);
}

/** `option F · once`, `option H on PostgreSQL`, or `basic · one question, one retry`. */
export function headingOf({ option, name, title }: Demo, onPostgres = false): string {
  if (!option) return `${name} · ${title}`;
  return onPostgres ? `option ${option.name} on PostgreSQL` : `option ${option.name} · ${title}`;
}
