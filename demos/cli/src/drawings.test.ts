/** The complete drawings of demos. */
import type { Subject } from '@mrtr/matrix';
import { expect, test } from 'vitest';
import { readArgs } from './args.ts';
import { loadSubjects } from './catalog.ts';
import { closingLine } from './closing-line.ts';
import { diagram } from './diagram.ts';
import { play } from './run-demo.ts';
import { scenesOf } from './scene.ts';

async function draw(line: string, at = 0): Promise<string> {
  const asked = readArgs(line.split(' '), process);
  if (!asked || !('demo' in asked)) throw new Error(`'${line}' is not one demo.`);
  const { demo, settings } = asked;
  const [subject] = (await loadSubjects(demo, settings.shape)) as [Subject];
  const scene = scenesOf(demo.name, settings)[at];
  if (!scene) throw new Error(`'${demo.name}' has no scene ${at}.`);
  const transcript = await play(subject, settings, scene);
  return ['', ...diagram(transcript), '', `  ${closingLine(transcript, scene.effect)}`, ''].join('\n');
}

test('a resource that asks an old client over its open stream', async () => {
  expect(await draw('prompt-and-resource --shape j --client legacy --legacy shim', 1)).toMatchInlineSnapshot(`
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
  expect(await draw('sampling-and-roots --shape i')).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call summarise {"words":5}                              │
        ├───────────────────────────────────────────────────────────────▶┃
        │                                                resolver roots  ┃
        │  input_required  roots: roots/list        state 159 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ◇ roots: bicycles                                             │
        │  tools/call summarise + roots, state                           │
        ├───────────────────────────────────────────────────────────────▶┃
        │                                                resolver roots  ┃
        │                                               resolver readme  ┃
        │                                              resolver summary  ┃
        │  input_required  summary: sampling/createMessage  "Summarise   ┃
        │  in at most 5 words: …"                   state 305 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ◇ the model: Runs a second-hand bicycle shop.                 │
        │  tools/call summarise + summary, state                         │
        ├───────────────────────────────────────────────────────────────▶┃
        │                                                resolver roots  ┃
        │                                               resolver readme  ┃
        │                                              resolver summary  ┃
        │                                                          body  ┃
        │  Runs a second-hand bicycle shop.                              ┃
        │◀───────────────────────────────────────────────────────────────┤

      3 rounds · body run 1× · nothing held between rounds
    "
  `);
});

test.each([
  ['option-g', 'end step run 1×'],
  ['option-g --answer decline', 'end step run 0×'],
  ['option-i', 'body run 1×'],
])('%s: of a tool in parts, the part that acts is counted: %s', async (args, counted) => {
  expect(await draw(args)).toContain(` · ${counted} · `);
});

test('a page that the user forgets, and then finishes', async () => {
  const drawing = await draw('link-account --shape j --answer nonsense');
  // Ports are the system's choice, and the lines are as long as they are.
  const lines = drawing.split('\n').map((line) => line.replace(/:\d+/, '').replace(/^ +[│├┆] +/, ''));
  const shown = lines
    .filter((line) => /^(?:input_required|☺)/.test(line))
    .map((line) => line.replace(/ *[│┃]$/, ''));
  expect(shown).toMatchInlineSnapshot(`
    [
      "input_required  link: "Link your calendar, so that your",
      "☺ accepts",
      "input_required  link: "The page is not finished yet. Finish",
      "☺ browser: 127.0.0.1/link/start → 401",
      "☺ browser: 127.0.0.1/account/sign-in → 200",
      "☺ browser: 127.0.0.1/link/start → 200",
      "☺ browser: 127.0.0.1/link/start → 303",
      "☺ browser: 127.0.0.1/authorize → 401",
      "☺ browser: 127.0.0.1/sign-in → 200",
      "☺ browser: 127.0.0.1/link/start → 200",
      "☺ browser: 127.0.0.1/link/start → 303",
      "☺ browser: 127.0.0.1/authorize → 200",
      "☺ browser: 127.0.0.1/decide → 303",
      "☺ browser: 127.0.0.1/link/callback → 200",
      "☺ accepts",
    ]
  `);
  expect(drawing).toContain('3 rounds · handler entered 3×');
});
