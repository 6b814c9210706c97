import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { locate, locateInConfig } from './locate.ts';

const TS = "// 'deploy' is a tool\nconst name = 1;\nserver.registerTool(\n  'deploy',\n  {},\n);\n";
const PYTHON = '@mcp.tool()\n@cached\nasync def deploy(env: str):\n  pass\n';
const TABLE = "const words = ['deploy'];\nexport const tool = {\n  name: 'deploy',\n};\n";

function locateIn(files: Readonly<Record<string, string>>): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-locate-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const place = locate('deploy', folder);
    return place && `${basename(place.uri)}:${place.line}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([
  ['a call that registers', { 'a.ts': TABLE, 'b.ts': TS }, 'b.ts:4'],
  ['a decorated function', { 'a.ts': TABLE, 'b.py': PYTHON }, 'b.py:3'],
  ['a name in a table', { 'a.ts': TABLE }, 'a.ts:3'],
  ['the name alone', { 'a.go': 'run("deploy")\n' }, 'a.go:1'],
  ['code before its test', { 'a.test.ts': TS, 'b.ts': `\n${TS}` }, 'b.ts:5'],
  ['nothing in what is installed', { 'node_modules/a.ts': TS, 'a.md': TS }, undefined],
])('finds %s', (_what, files, place) => {
  expect(locateIn(files)).toBe(place);
});

test('a missing file is located at its first line', () => {
  expect(locateInConfig('deploy', 'mrtr check.json')).toEqual({ uri: 'mrtr%20check.json', line: 1 });
});
