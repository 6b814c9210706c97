/** Programs write through `Writer` of @mrtr/harness/process, which escapes a stranger's text. */
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';

const EXEMPT: Readonly<Record<string, string>> = {
  'tools/cli/run.mjs': 'runs before packages are installed, and prints our own text',
  'packages/harness/src/processes/writer.ts': 'is the Writer',
  'packages/hosting/src/stdio.ts': 'speaks MCP on stdout, and escapes errors with core',
  'tools/new-option.mjs': 'runs before packages are installed, and and prints our own text',
  'tools/postgres-server/src/keeper.mjs': 'answers the program that started it',
};

/** Places that write past a `Writer`: `process.stdout` in any use but three, `console`, `writeSync`, a writer's stream. */
function findWrites(file: string, source: string): string[] {
  const found: number[] = [];
  const allowed = new Set<number>();
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const isNamed = (node: Node | null, ...names: string[]) =>
    (node?.type === 'Identifier' && names.includes(node.name)) ||
    (node?.type === 'Literal' && names.includes(String(node.value)));
  const isProcess = (node: Node | null) =>
    isNamed(node, 'process') || (node?.type === 'MemberExpression' && isNamed(node.property, 'process'));
  const hasStream = (node: Node) =>
    node.type === 'ObjectPattern' &&
    node.properties.some((one) => one.type === 'RestElement' || isNamed(one.key, 'stdout', 'stderr'));
  new Visitor({
    NewExpression: ({ callee, arguments: [stream] }) => {
      if (isNamed(callee, 'Writer') && stream) allowed.add(stream.start);
    },
    CallExpression: ({ callee, start }) => {
      if (isNamed(callee, 'writeSync')) found.push(start);
      if (callee.type !== 'MemberExpression') return;
      const { object, property } = callee;
      if (isNamed(property, 'on')) allowed.add(object.start);
      const isRaw = object.type === 'MemberExpression' && isNamed(object.property, 'stream');
      if (isNamed(property, 'writeSync') || (isNamed(property, 'write', 'end') && isRaw)) found.push(start);
    },
    MemberExpression: ({ object, property, start }) => {
      if (isNamed(object, 'console') || isNamed(property, 'console')) found.push(start);
      if (isProcess(object) && isNamed(property, 'stdout', 'stderr') && !allowed.has(start))
        found.push(start);
    },
    VariableDeclarator: ({ id, init, start }) => {
      if (isNamed(init, 'console') || (isProcess(init) && hasStream(id))) found.push(start);
    },
    ImportSpecifier: ({ imported, start }) => {
      if (isNamed(imported, 'stdout', 'stderr', 'writeSync')) found.push(start);
    },
  }).visit(program);
  return found.map((at) => `${file}:${source.slice(0, at).split('\n').length}`);
}

test('the rule sees each way to write past a Writer', () => {
  const ways = [
    "process.stdout.write('x')",
    "process['stderr'].write('x')",
    'globalThis.process.stdout.end()',
    'const { stdout: out } = process',
    'const { env, ...rest } = process',
    'const out = process.stdout',
    "import { stdout } from 'node:process'",
    "console.log('x')",
    'const { log } = console',
    'run(console.error)',
    "terminal.stdout.stream.write('x')",
    "writeSync(1, 'x')",
    "fs.writeSync(1, 'x')",
  ];
  expect(ways.filter((way) => findWrites('x.ts', way).length === 0)).toEqual([]);
  expect(
    findWrites('x.ts', "new Writer(process.stdout).write('x'); process.stdout.on('error', stop);"),
  ).toEqual([]);
});

test('no program writes to a terminal past its Writer', () => {
  // The lab's page runs in a browser. Recipes are examples, for servers that do not have the harness.
  const sources = projectFiles().filter(
    (file) =>
      /^(?:packages|demos|tools)\/.*\.(?:ts|mjs)$/.test(file) &&
      !/\.(?:test|test-support|proof|browser)\.ts$|^(?:tools\/lab\/page|demos\/recipes)\//.test(file),
  );
  expect(sources.length).toBeGreaterThan(300);
  const writes = sources.flatMap((file) => findWrites(file, textOf(file)));
  const files = writes.map((place) => place.replace(/:\d+$/, ''));
  expect(writes.filter((_, at) => !Object.hasOwn(EXEMPT, files[at] ?? ''))).toEqual([]);
  expect(Object.keys(EXEMPT).filter((file) => !files.includes(file))).toEqual([]);
});
