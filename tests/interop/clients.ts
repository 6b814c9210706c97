/** The foreign clients, and one call of each. */
import { RunningProcess } from '@mrtr/harness/process';
import { FOREIGN_NODE, foreignPath } from './foreign.ts';
import type { Report } from './measurement.ts';
import type { Target } from './target.ts';

/** A client: a file in `foreign/clients`, and its arguments besides the target. */
export interface ForeignClient {
  readonly name: string;
  readonly package: string;
  readonly driver: string;
  /** A minor version of the package, or the era to speak. */
  readonly variant?: string;
}

const minors = (name: string, of: string, driver: string, variants: string): ForeignClient[] =>
  variants.split(' ').map((variant) => ({ name, package: `${of}-${variant}`, driver, variant }));
const inspector = (name: string, driver: string, variant: string): ForeignClient => ({
  name,
  package: '@modelcontextprotocol/inspector',
  driver,
  variant,
});

export const CLIENTS: readonly ForeignClient[] = [
  ...minors('SDK v1', 'sdk', 'v1-sdk', '1.17 1.22 1.27 1.32'),
  ...minors('SDK v2', 'client', 'v2-client', '2.0 2.1 2.2 2.3 2.4'),
  { name: 'Vercel AI SDK', package: '@ai-sdk/mcp', driver: 'ai-sdk' },
  { name: 'Mastra', package: '@mastra/mcp', driver: 'mastra' },
  { name: 'OpenAI Agents', package: '@openai/agents', driver: 'openai-agents' },
  { name: 'LangChain', package: '@langchain/mcp-adapters', driver: 'langchain' },
  { name: 'Strands', package: '@strands-agents/sdk', driver: 'strands' },
  { name: 'mcp-use', package: 'mcp-use', driver: 'mcp-use' },
  { name: 'mcporter', package: 'mcporter', driver: 'mcporter' },
  inspector('Inspector `--cli`', 'inspector-cli', 'legacy'),
  inspector('Inspector `--cli`, modern', 'inspector-cli', 'modern'),
  inspector('Inspector `mcpdo`', 'mcpdo', 'legacy'),
  inspector('Inspector `mcpdo`, modern', 'mcpdo', 'modern'),
];

const PATIENCE_MS = 120_000;

/** Runs one client against `target`. A client that ends without a report has failed. */
export async function runClient(
  { driver, variant }: ForeignClient,
  target: Target,
  env: Readonly<Record<string, string>>,
): Promise<Report> {
  const args = [foreignPath(`clients/${driver}.mjs`), JSON.stringify(target), ...(variant ? [variant] : [])];
  const running = new RunningProcess({ command: FOREIGN_NODE, args, env }, { patienceMs: PATIENCE_MS });
  const reported = ({ out }: { readonly out: string }) => /^\{"asked":.*\}$/m.exec(out)?.[0];
  try {
    return JSON.parse(await running.until(reported)) as Report;
  } catch (error) {
    return { asked: false, error: (error as Error).message };
  } finally {
    await running.kill();
  }
}
