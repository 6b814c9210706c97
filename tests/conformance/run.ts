/** `pnpm conformance`: runs the official suite against every shape and a client. Exit code 1 if anything fails. */
import { availableParallelism } from 'node:os';
import type { LoadedOption } from '@mrtr/comparison/options';
import { installWithNode, nodeFor } from '../testkit/own-lockfile.ts';
import { OPTIONS_UNDER_TEST, serve } from './fixture.ts';
import { serverScenarios, suiteVersion, testClient, testServer, type Verdict } from './suite.ts';

// A fixed number, so that an incomplete list does not pass.
const SERVER_SCENARIOS = 14;
const SUITE = new URL('suite/', import.meta.url);
/** The Node version that the suite needs. */
const NODE = 22;

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function run(): Promise<boolean> {
  const { versions, execPath } = process;
  const node = nodeFor(SUITE, NODE);
  installWithNode(SUITE, NODE);
  const scenarios = await serverScenarios();
  if (scenarios.length !== SERVER_SCENARIOS) {
    throw new Error(`The suite lists ${scenarios.length} MRTR server scenarios, not ${SERVER_SCENARIOS}.`);
  }
  const suite = `@modelcontextprotocol/conformance ${await suiteVersion()}`;
  console.log(`${suite}, run by ${node === execPath ? 'this Node' : 'the Node that is installed with it'};`);
  console.log(`the servers and the client run on Node ${versions.node}.\n`);

  const subjects = [
    ...OPTIONS_UNDER_TEST.map((shape) => ({
      name: `${shape.name} ${shape.title}`,
      test: () => testShape(node, shape, scenarios),
    })),
    { name: 'client', test: async () => [await testClient(node, `"${execPath}" --import tsx client.ts`)] },
  ];
  const sums: string[] = [];
  let failed = 0;
  // Shared by the workers: each takes the next subject.
  const left = subjects.entries();
  const worker = async () => {
    for (const [at, { name, test }] of left) {
      const all = await test();
      for (const verdict of all) report(name, verdict);
      const passed = all.filter((verdict) => verdict.passed).length;
      sums[at] = `${name.padEnd(21)}  ${passed} of ${all.length} passed`;
      failed += all.length - passed;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  console.log(`\n${sums.join('\n')}`);
  return failed === 0;
}

async function testShape(
  node: string,
  shape: LoadedOption,
  scenarios: readonly string[],
): Promise<Verdict[]> {
  const { url, close } = await serve(shape);
  try {
    const verdicts: Verdict[] = [];
    for (const scenario of scenarios) verdicts.push(await testServer(node, scenario, url.href));
    return verdicts;
  } finally {
    await close();
  }
}

function report(name: string, { scenario, passed, checks, reasons }: Verdict): void {
  console.log(`${name.padEnd(21)}  ${passed ? 'pass' : 'FAIL'}  ${scenario} (${checks} checks)`);
  for (const reason of reasons) console.log(`${' '.repeat(29)}${reason}`);
}
