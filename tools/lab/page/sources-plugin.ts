/** The authors' files, highlighted while the page is built: `virtual:sources`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import typescript from 'shiki/langs/typescript.mjs';
import dark from 'shiki/themes/github-dark-default.mjs';
import light from 'shiki/themes/github-light-high-contrast.mjs';
import type { Plugin } from 'vite';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const AUTHORS = /^(?:weather|work-item)\.ts$/;

type Token = readonly [text: string, look: number];

interface Sources {
  readonly files: Readonly<Record<string, readonly (readonly Token[])[]>>;
  /** The colour of each look, in light and dark. */
  readonly looks: readonly string[];
}

async function read(): Promise<Sources> {
  const highlighter = await createHighlighterCore({
    langs: [typescript],
    themes: [light, dark],
    engine: createJavaScriptRegexEngine(),
  });
  const files: Record<string, Token[][]> = {};
  const looks: string[] = [];
  for (const file of authorsFiles()) {
    const { tokens } = highlighter.codeToTokens(readFileSync(join(root, file), 'utf8').trimEnd(), {
      lang: 'typescript',
      themes: { light, dark },
      defaultColor: 'light-dark()',
    });
    files[file] = tokens.map((line) =>
      line.map(({ content, htmlStyle }) => {
        const look = String(htmlStyle?.color);
        if (!looks.includes(look)) looks.push(look);
        return [content, looks.indexOf(look)];
      }),
    );
  }
  return { files, looks };
}

function authorsFiles() {
  const found = (folder: string, names: RegExp) =>
    readdirSync(join(root, folder)).flatMap((name) => (names.test(name) ? [`${folder}/${name}`] : []));
  const folders = found('demos', /^option-/);
  return [...folders.flatMap((folder) => found(folder, AUTHORS)), 'demos/approve/tool-builder.ts'];
}

let known: Promise<Sources> | undefined;
const sources = () => {
  known ??= read();
  return known;
};

/** @param isNeeded whether the page shows sources; otherwise there are none in it. */
export function authorsSources(isNeeded: boolean): Plugin {
  return {
    name: 'authors-sources',
    resolveId: (id) => (id.startsWith('virtual:sources') ? `\0${id}` : undefined),
    async load(id) {
      if (!isNeeded && id.startsWith('\0virtual:sources'))
        return id.endsWith('.css') ? '' : 'export default { files: {} }';
      if (id === '\0virtual:sources') return `export default ${JSON.stringify(await sources())}`;
      if (id !== '\0virtual:sources.css') return undefined;
      const { looks } = await sources();
      return looks.map((color, at) => `.t${at}{color:${color}}`).join('\n');
    },
  };
}
