/** `@mrtr/check`: checks any MCP server whose tools ask their user questions. The program is `mrtr-check`. */
export { CHECKS } from './checks/all.ts';
export type { Check, Verdict } from './judging/check.ts';
export { formatReports, type ReportFormat } from './report/formats.ts';
export type { Report, ReportedCheck } from './report/report.ts';
export { run } from './run/run.ts';
export { type Address, type Inputs, type Operation, type ProbeSpec, UsageError } from './target/target.ts';
