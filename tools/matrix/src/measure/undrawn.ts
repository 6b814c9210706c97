/** Measures the shapes with clients that do not draw every form. Each call asks one form with a name and a field. */
import { randomBytes } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { createWorld } from '@mrtr/comparison';
import { toolCall } from '@mrtr/comparison/calls';
import type { LoadedOption } from '@mrtr/comparison/options';
import { cancelledResult, elicitation, MemoryLedger, requestStatePolicy, textResult } from '@mrtr/core';
import { answersLike, type ClientKind, converse, host } from '@mrtr/harness';
import { CLIENT_BEHAVIOURS } from '@mrtr/harness/internal';
import { eventsOf } from '@mrtr/harness/transcript';
import { z } from 'zod';
import { type Outline, serveOutline } from '../outlines/index.ts';
import { groupBy } from '../table-rows.ts';

type Behaviour = (typeof CLIENT_BEHAVIOURS)[number];

/** The description of a field, its schema, and the value that the user enters. */
type Asked = readonly [field: string, schema: z.ZodType, enters?: unknown];

const COUNT = z.int().min(1).max(9);
const SIZES = z.array(z.enum(['small', 'large'])).min(1);
const OPTIONAL: Asked = ['an optional number', COUNT.optional()];

/** The field that each client does not draw, or sends although its user left it empty. */
const UNDRAWN: Readonly<Record<Behaviour, Asked>> = {
  'approves a form with a number or a list': ['a number', COUNT, 3],
  'sends an empty text': ['an optional email', z.email().optional()],
  'sends 0 for an empty number': OPTIONAL,
  'sends null for an empty number': OPTIONAL,
  'sends an empty list': ['optional choices', SIZES.optional()],
  'asks for choices as text': ['several choices', SIZES, ['small', 'large']],
  'sends a time without a zone': ['a time', z.iso.datetime(), '2026-02-03T10:00:00Z'],
};

/** A number that every client draws: as a text. */
const DRAWN: Asked = ['a number as text', z.string().transform(Number).pipe(COUNT), '3'];

/** Measures each shape, once for each of its stores, with each client in both eras: on its own field, and on one that every client draws. */
export async function measureUndrawn(options: readonly LoadedOption[]) {
  const asks: (readonly [Behaviour, Asked])[] = CLIENT_BEHAVIOURS.map((one) => [one, UNDRAWN[one]]);
  asks.push(...CLIENT_BEHAVIOURS.map((one) => [one, DRAWN] as const));
  const cells: UndrawnCell[] = [];
  for (const option of options.filter(({ id, needsPostgres }) => id.length === 1 || needsPostgres))
    for (const [behaviour, asked] of asks)
      for (const client of ['modern', 'legacy'] as const)
        cells.push({
          option: option.name,
          behaviour,
          client,
          ...(await callWith(option, client, behaviour, asked)),
        });
  return cells;
}

export interface UndrawnCell extends Awaited<ReturnType<typeof callWith>> {
  readonly option: string;
  readonly behaviour: Behaviour;
  readonly client: 'modern' | 'legacy';
}

async function callWith(option: LoadedOption, client: ClientKind, behaviour: Behaviour, asked: Asked) {
  const [field, schema, enters] = asked;
  const errors: Error[] = [];
  const onerror = (error: Error) => void errors.push(error);
  const policy = requestStatePolicy({ keys: [randomBytes(32)], ledger: new MemoryLedger(), onerror });
  const form = elicitation('Please fill in this form.', z.object({ name: z.string(), field: schema }));
  const outline: Outline<CallToolResult> = {
    steps: [{ asks: { form } }],
    end: (data) => textResult(JSON.stringify(data)),
    refused: cancelledResult,
  };
  const call = toolCall('ask', {});
  const user = answersLike(behaviour, { name: 'Ada', ...(enters !== undefined && { field: enters }) });
  const { events, end } = await converse({ client, call, user }, () =>
    host('memory', () => serveOutline(option, { world: createWorld(), policy }, 'ask', outline)),
  );
  return {
    field,
    /** The prompts of the call, as the user read them. */
    prompts: eventsOf('question', events).map(({ message }) => message),
    end: end.result,
    /** What `onerror` got. */
    errors,
  };
}

/** The prompts of a call, and its end. Every option does the same in both eras. */
export function undrawnTable(cells: readonly UndrawnCell[]) {
  const rows = groupBy(cells, ({ behaviour, field }) => (field === DRAWN[0] ? field : behaviour));
  return [
    ['The client', 'Asked for', 'Prompts', 'The end'],
    ...rows.map(([{ behaviour, field, prompts, end }]) => [
      field === DRAWN[0] ? 'does any of these' : behaviour,
      field,
      `${prompts.length}`,
      end?.isError ? 'an error that says why' : 'answered',
    ]),
  ];
}
