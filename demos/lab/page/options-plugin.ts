/** The list of the options, as the repository has it, with the authors' files of each: `virtual:options`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folders = readdirSync(`${root}packages/options`);

/** The lines of the list: it loads what a build must not, so it is read and not imported. */
function readList() {
  const text = readFileSync(`${root}packages/options/list/src/index.ts`, 'utf8');
  const list = text.slice(text.indexOf('['), text.indexOf('satisfies'));
  const found = [...list.matchAll(/\{\s*id: '(?<id>[^']+)',(?<rest>[^}]+)\}/g)];
  if (found.length < 10) throw new Error('The list of the options is not what the page expects.');
  return found.map(({ groups: { id = '', rest = '' } = {} }) => {
    const field = (name: string) =>
      new RegExp(`${name}: (?:'([^']*)'|"([^"]*)")`).exec(rest)?.slice(1).find(Boolean);
    return {
      id,
      name: field('name') ?? id.toUpperCase(),
      title: field('title') ?? '',
      needsPostgres: rest.includes('needsPostgres: true'),
      files: filesOf(id),
    };
  });
}

/** `e-bare` is written in `e-guard-first`, in files that end in `-bare`; `h-postgres` in `h-linear-postgres`. */
function filesOf(id: string) {
  const [letter = '', variant] = id.split('-');
  const own = folders.filter((folder) => folder.startsWith(`${letter}-`)).sort((a, b) => a.length - b.length);
  const folder = own.find((one) => variant !== undefined && one.endsWith(`-${variant}`)) ?? own[0];
  const path = (name: string) => `packages/options/${folder}/src/${name}.ts`;
  const file = (tool: string) => {
    const varied = path(`${tool}-${variant}`);
    return existsSync(root + varied) ? varied : path(tool);
  };
  const made = existsSync(root + path(`${variant}`)) ? path(`${variant}`) : path('index');
  const writes = /\bwrite/.test(readFileSync(root + made, 'utf8'));
  const written = existsSync(root + path('write'))
    ? path('write')
    : 'packages/options/contract/src/guard-first.ts';
  return {
    weather: file('weather'),
    'work-item': file('work-item'),
    ...(writes && { order: written }),
  };
}

export const optionsList = (): Plugin => ({
  name: 'options-list',
  resolveId: (id) => (id === 'virtual:options' ? `\0${id}` : undefined),
  load: (id) => (id === '\0virtual:options' ? `export default ${JSON.stringify(readList())}` : undefined),
});
