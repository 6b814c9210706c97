/** What the demos in several shapes look like, from end to end. */
import type { Subject } from '@mrtr/harness';
import { expect, test } from 'vitest';
import { readArgs } from './args.ts';
import { loadSubjects } from './catalog.ts';
import { diagram } from './diagram.ts';
import { play } from './run-demo.ts';
import { scenesOf } from './scene.ts';

/** The drawing of one conversation, as the command line would have it. */
async function drawn(line: string, at = 0): Promise<string> {
  const command = readArgs(line.split(' '));
  if (command.kind !== 'demo') throw new Error(`'${line}' is not one demo.`);
  const { name, settings } = command;
  const [subject] = (await loadSubjects(name, settings.shape)) as [Subject];
  const scene = scenesOf(name, settings)[at];
  if (!scene) throw new Error(`'${name}' has no scene ${at}.`);
  return `\n${diagram(await play(subject, settings, scene), scene.effect).join('\n')}\n`;
}

test('a prompt that asks, on a modern client', async () => {
  expect(await drawn('prompt-and-resource --shape f')).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  prompts/get release_notes {"version":"2.0"}                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  input_required  audience: "Who will read them?"               ┃
        │                                           state 134 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ☺ developers                                                  │
        │  prompts/get release_notes + audience, state                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │  user: Write the notes of release 2.0, for developers.         ┃
        │◀───────────────────────────────────────────────────────────────┤

      2 rounds · handler entered 2× · nothing held between rounds
    "
  `);
});

test('a resource that asks, with an effect above its question', async () => {
  expect(await drawn('prompt-and-resource --shape f', 1)).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  resources/read report://quarterly                             │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │                                          effect figures: runs  ┃
        │  input_required  currency: "In which currency?"                ┃
        │                                           state 197 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ☺ EUR                                                         │
        │  resources/read report://quarterly + currency, state           │
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │                                     effect figures: held back  ┃
        │  Profit: 300 k EUR.                                            ┃
        │◀───────────────────────────────────────────────────────────────┤

      2 rounds · handler entered 2× · nothing held between rounds
    "
  `);
});

test('a resource that waits, and whose second round reaches another instance', async () => {
  expect(await drawn('prompt-and-resource --shape h --hosting fleet', 1)).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  resources/read report://quarterly                             │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  input_required  currency: "In which currency?"                ┃
        │                                           state 147 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ☺ EUR                                                         │
        │  resources/read report://quarterly + currency, state           │
        ├───────────────────────────────────────────────────────────────▶┃
        │  ✗ error -32600  This call cannot go on here: its              ┃
        │  continuation expired, was resumed already, or is held by      ┃
        │  another server instance. Start the call again.                ┃
        │◀───────────────────────────────────────────────────────────────┤

      2 rounds · handler entered 1× · 1 frame held between rounds
    "
  `);
});

test('a prompt whose user declines, in the words of the shape', async () => {
  expect(await drawn('prompt-and-resource --shape i --answer decline')).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  prompts/get release_notes {"version":"2.0"}                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  input_required  audience: "Who will read them?"               ┃
        │                                           state 138 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ☺ declines                                                    │
        │  prompts/get release_notes + audience, state                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │  ✗ error -32600  The user declined to answer. The call was     ┃
        │  given up; nothing was done.                                   ┃
        │◀───────────────────────────────────────────────────────────────┤

      2 rounds · handler entered 2× · nothing held between rounds
    "
  `);
});

test('a resource that is asked for by an old client, over the stream that is held', async () => {
  expect(
    await drawn('prompt-and-resource --shape j --client legacy --legacy shim', 1),
  ).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  resources/read report://quarterly                             │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │                                          effect figures: runs  ┃
        │  elicitation/create  "In which currency?"                      ┃
        │◀───────────────────────────────────────────────────────────────┨
        │  ☺ EUR                                                         ┃
        │  accept {"currency":"EUR"}                                     ┃
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │                                     effect figures: held back  ┃
        │  Profit: 300 k EUR.                                            ┃
        │◀───────────────────────────────────────────────────────────────┤

      1 round · handler entered 2× · a stream held open
    "
  `);
});

test('roots and then the model, on a modern client', async () => {
  expect(await drawn('sampling-and-roots --shape i')).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call summarise {"words":5}                              │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  input_required  roots: roots/list        state 134 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ◇ roots: bicycles                                             │
        │  tools/call summarise + roots, state                           │
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │  input_required  summary: sampling/createMessage  "Summarise   ┃
        │  in at most 5 words: …"                   state 261 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ◇ the model: Runs a second-hand bicycle shop.                 │
        │  tools/call summarise + summary, state                         │
        ├───────────────────────────────────────────────────────────────▶┃ entry 3
        │  Runs a second-hand bicycle shop.                              ┃
        │◀───────────────────────────────────────────────────────────────┤

      3 rounds · handler entered 3× · nothing held between rounds
    "
  `);
});

test('the same on an old client, over the stream that is held', async () => {
  expect(await drawn('sampling-and-roots --shape j --client legacy --legacy shim')).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call summarise {"words":5}                              │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  roots/list                                                    ┃
        │◀───────────────────────────────────────────────────────────────┨
        │  ◇ roots: bicycles                                             ┃
        │  1 root                                                        ┃
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │                                           effect readme: runs  ┃
        │  sampling/createMessage  "Summarise in at most 5 words: …"     ┃
        │◀───────────────────────────────────────────────────────────────┨
        │  ◇ the model: Runs a second-hand bicycle shop.                 ┃
        │  assistant: Runs a second-hand bicycle shop.                   ┃
        ├───────────────────────────────────────────────────────────────▶┃ entry 3
        │                                      effect readme: held back  ┃
        │  Runs a second-hand bicycle shop.                              ┃
        │◀───────────────────────────────────────────────────────────────┤

      1 round · handler entered 3× · a stream held open
    "
  `);
});
