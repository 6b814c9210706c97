// pnpm new-option LETTER WORD [LIKE]: copies an option's folder, and the writer of its shape.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const USAGE = 'Usage: pnpm new-option LETTER WORD [LIKE], for example: pnpm new-option k saga f';
const DEMOS = new URL('../demos/', import.meta.url);
/** What an author has yet to write. A test of the house finds it. */
const TODO = 'TODO';
const WRITERS = new URL('matrix/src/outlines/writers/', import.meta.url);

/** Makes the option LETTER as a copy of the option LIKE, and returns the name of its folder. */
function newOption(letter, word, like = 'f', ...more) {
  if (more.length > 0) throw new Error(`There is nothing to do with ${more.join(' ')}. ${USAGE}`);
  if (!/^[a-z]$/.test(letter ?? '') || !/^[a-z]+(-[a-z]+)*$/.test(word ?? ''))
    throw new Error(`LETTER is one lower-case letter, and WORD is in lower case, with hyphens. ${USAGE}`);
  const folders = readdirSync(DEMOS)
    // Git leaves the `node_modules` of a removed option.
    .filter((name) => name.startsWith('option-') && existsSync(new URL(`${name}/package.json`, DEMOS)));
  const taken = folders.find((name) => new RegExp(`^option-(${letter}-.+|.-${word})$`).test(name));
  if (taken) throw new Error(`The folder ${taken} has that letter or word. Choose another.`);
  const model = folders.find((name) => manifestOf(name).name === `@mrtr/option-${like}`);
  if (!model) throw new Error(`There is no option '${like}' to copy. ${USAGE}`);

  const folder = `option-${letter}-${word}`;
  cpSync(new URL(model, DEMOS), new URL(folder, DEMOS), {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  });
  const title = word.replaceAll('-', ' ');
  const comparison = { authorWrites: TODO, sdkDoes: TODO, hiddenReentry: TODO };
  const manifest = { ...manifestOf(model), name: `@mrtr/option-${letter}`, description: title, comparison };
  writeFileSync(new URL(`${folder}/package.json`, DEMOS), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(new URL(`${folder}/README.md`, DEMOS), readmeOf(letter, title, folder, model));
  const writer = readFileSync(new URL(`${like.charAt(0)}.ts`, WRITERS), 'utf8');
  writeFileSync(
    new URL(`${letter}.ts`, WRITERS),
    `// ${TODO}: this writes outlines in the shape of ${model}.\n${writer}`,
  );
  return folder;
}

const manifestOf = (folder) => JSON.parse(readFileSync(new URL(`${folder}/package.json`, DEMOS), 'utf8'));

/** A README with its commands. `pnpm matrix --write` writes the diff. */
function readmeOf(letter, title, folder, model) {
  const server = `demos/${folder}/server.ts`;
  const files = `demos/${model}/weather.ts demos/${folder}/weather.ts`;
  return `# ${letter.toUpperCase()}: ${title}

${TODO}: what an author writes, and what happens when the client calls again.

Look at \`weather.ts\`: ${TODO}. Run \`pnpm demo option-${letter}\`.

## Start it

\`\`\`sh
node ${server}
\`\`\`

[Other ways](../comparison/README.md#start-an-option).

## Beside ${model.charAt('option-'.length).toUpperCase()}

${TODO}, the difference in a sentence:

\`\`\`sh
git diff --no-index ${files}
\`\`\`

<!-- begin: diff ${files} -->
<!-- end: diff ${files} -->
`;
}

/** What its author does next. From the first step on, tests say what is missing. */
const nextSteps = (
  folder,
  letter,
) => `Made demos/${folder} and tools/matrix/src/outlines/writers/${letter}.ts. Next:
  1. Run pnpm install. Add two rows to demos/comparison/options.test.ts.
  2. Write the shape in a file of demos/${folder}, as demos/option-d-by-era/by-era.ts does, by "A shape of your own" in
     packages/shapes/README.md. A shape that people should take moves to packages/shapes/src/<shape> (model: once) and
     gets a subpath in \`exports\`.
  3. Write server.ts, weather.ts and work-item.ts, the promises in claims.ts, and what is marked ${TODO} in README.md and
     package.json.
  4. Write any outline in its shape in the writer: the contract, the deploys and the conformance suite come from it.
     Adopt the contract in tests/shapes/<shape>.test.ts (model: once.test.ts; its onceContract is for a ctx.once that
     returns a promise). Add an adversarial.test.ts to a shape of the package (model: resolve).
  5. Add a row to the table of README.md, a heading with a paragraph to docs/choosing.md, and the line of
     pnpm conformance to docs/conformance.md. This finds sentences that list shapes:
     grep -rnE '\\b[A-J](, [A-J])* (and|to) [A-J]\\b' README.md docs demos packages
  6. Run pnpm test: the matrix measures the option, and prints every difference from its claims, every row to write, and
     a token for tests/operations/golden-tokens.json. Write what the checker may find into
     tests/check/options/expected.ts.
  7. Run pnpm matrix --write, pnpm check:options and MRTR_WRITE_DOCS=1 pnpm test tests/check/document.test.ts.
`;

try {
  const [letter, ...args] = process.argv.slice(2);
  const folder = newOption(letter, ...args);
  process.stdout.write(nextSteps(folder, letter));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
