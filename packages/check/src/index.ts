/** `@mrtr/check`: checks any MCP server whose tools ask their user questions. The program is `mrtr-check`. */
export { CHECKS } from './checks/all.ts';
export { main } from './cli/cli.ts';
export type { Console } from './cli/console.ts';
export type { Check, Clause, Level, Verdict } from './judging/check.ts';
export { htmlReport, type Viewer } from './report/html.ts';
export { junitReport } from './report/junit.ts';
export { markdownReport } from './report/markdown.ts';
export {
  PROFILE,
  type Report,
  type ReportedCheck,
  type ReportedTarget,
  type ReportOptions,
  reportOf,
  type Summary,
} from './report/report.ts';
export { terminalReport } from './report/terminal.ts';
export { type Run, type RunInputs, run } from './run/run.ts';
export type { CheckResult, Progress } from './run/schedule.ts';
export { type Address, type Inputs, type Operation, type ProbeSpec, UsageError } from './target/target.ts';
