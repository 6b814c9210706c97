// pnpm new-option LETTER WORD [LIKE]: copies an option's folder, and adds a line to the list.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const USAGE = 'Usage: pnpm new-option LETTER WORD [LIKE], for example: pnpm new-option k saga f';

/** Makes the folder `LETTER-WORD` in `root`, as a copy of the option `like`; returns its name. */
export function newOption(root, letter, word, like = 'f') {
  if (!/^[a-z]$/.test(letter ?? '') || !/^[a-z]+(-[a-z]+)*$/.test(word ?? ''))
    throw new Error(`LETTER is one lower-case letter, and WORD is in lower case, with hyphens. ${USAGE}`);
  // Git leaves the `node_modules` of a removed option.
  const folders = readdirSync(root).filter((folder) => existsSync(join(root, folder, 'package.json')));
  const taken = folders.find((folder) => folder.startsWith(`${letter}-`) || folder.endsWith(`-${word}`));
  if (taken) throw new Error(`The folder ${taken} has that letter or word. Choose another.`);
  const model = folders.find((folder) => folder.startsWith(`${like}-`));
  if (!model) throw new Error(`There is no option '${like}' to copy. ${USAGE}`);
  const { exports } = JSON.parse(readFileSync(join(root, model, 'package.json'), 'utf8'));
  if (Object.keys(exports).length > 1)
    throw new Error(`${model} holds several options. Copy one that stands alone, for example a or f.`);

  const folder = `${letter}-${word}`;
  cpSync(join(root, model), join(root, folder), {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  });
  edit(join(root, folder, 'package.json'), (text) =>
    text.replace(`"@mrtr/option-${like}"`, `"@mrtr/option-${letter}"`),
  );
  writeFileSync(
    join(root, folder, 'README.md'),
    `# ${letter.toUpperCase()}: ${word}\n\nLook at\n\n* \`src/weather.ts\`\n`,
  );
  const list = join(root, 'list/src/index.ts');
  edit(list, (text) => text.replace(/^ {2}\] satisfies/m, `${lineFor(letter, word)}\n  ] satisfies`));
  edit(join(root, 'list/package.json'), (text) => {
    const manifest = JSON.parse(text);
    manifest.dependencies = Object.fromEntries(
      Object.entries({ ...manifest.dependencies, [`@mrtr/option-${letter}`]: 'workspace:*' }).sort(
        ([a], [b]) => (a < b ? -1 : 1),
      ),
    );
    return `${JSON.stringify(manifest, null, 2)}\n`;
  });
  return folder;
}

const lineFor = (letter, word) =>
  `    { id: '${letter}', word: '${word}', title: '${word.replaceAll('-', ' ')}', load: () => import('@mrtr/option-${letter}') },`;

function edit(path, change) {
  if (!existsSync(path)) throw new Error(`${path} does not exist. Run this in a checkout of the repository.`);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] === here) {
  try {
    const [letter, word, like, ...more] = process.argv.slice(2);
    if (more.length > 0) throw new Error(`There is nothing to do with ${more.join(' ')}. ${USAGE}`);
    const folder = newOption(dirname(here), letter, word, like);
    process.stdout.write(
      `Made packages/options/${folder}. Next:\n` +
        '  1. pnpm install\n' +
        `  2. write the files in src of ${folder}, claim what you believe in index.ts, and say in README.md what to look at\n` +
        '  3. pnpm test: the matrix measures it, and prints every difference from its claims and every row to write\n' +
        '  4. pnpm matrix --write, and pnpm check:options\n',
    );
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
