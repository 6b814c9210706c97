/** Finds the place of a finding for a code-scanning page: the registration of its tool, or the configuration file. */
import { readFileSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { globSync } from 'tinyglobby';

const MAX_FILES = 5000;
const MAX_BYTES = 1024 * 1024;
const SOURCES = '**/*.{js,cjs,mjs,jsx,ts,cts,mts,tsx,py,go,rs,java,kt,cs,rb,php,swift,scala,ex,exs}';
const SKIPPED = '**/{node_modules,vendor,dist,build,target,__pycache__}';

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Most certain first: a registering call, a decorated function, a name in a table, the name alone. */
const patternsOf = (name: string) => {
  const [word, quoted] = [literal(name), `["'\`]${literal(name)}["'\`]`];
  return [
    new RegExp(`(tool|prompt|resource)\\w*(<[^>]{1,80}>)?\\(\\s*${quoted}`, 'i'),
    new RegExp(`(tool|prompt|resource)[^\\n]*\\n(\\s*@[^\\n]*\\n)*\\s*(async\\s+)?def\\s+${word}\\b`, 'i'),
    new RegExp(`name["']?\\s*[:=]\\s*${quoted}`, 'i'),
    new RegExp(`["']${word}["']`),
  ];
};

/** The place that names an operation. Searches tests last, because they name the tool too. */
export function locate(name: string, folder: string) {
  const rank = (path: string) => Number(isTest(path));
  const texts = globSync(SOURCES, { cwd: folder, ignore: SKIPPED, followSymbolicLinks: false })
    .slice(0, MAX_FILES)
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((path) => join(folder, path))
    .filter((file) => statSync(file).size <= MAX_BYTES)
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  for (const pattern of patternsOf(name)) {
    for (const { file, text } of texts) {
      const found = pattern.exec(text);
      if (found) return { uri: uriOf(file), line: lineAt(text, found.index + found[0].lastIndexOf(name)) };
    }
  }
  return undefined;
}

/** The line of the configuration file that names the operation, or its first one. */
export function locateInConfig(name: string, file: string) {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // A run from the command line has no such file. The page then shows only its name.
  }
  return { uri: uriOf(file), line: lineAt(text, Math.max(0, text.indexOf(JSON.stringify(name)))) };
}

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

const isTest = (file: string) => /[._-](test|spec)\b|\b(tests?|test_\w+)\b/i.test(file);

/** Relative to the working directory, which is the repository's root in CI. */
function uriOf(file: string) {
  const path = relative(process.cwd(), resolve(file));
  return path.startsWith('..') ? pathToFileURL(file).href : encodeURI(path.split(sep).join('/'));
}
