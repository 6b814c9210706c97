/** Measures a TypeScript file by its syntax tree. */
import { parseSync, Visitor } from 'oxc-parser';

/** In lines. */
export interface Measured {
  readonly lines: number;
  /** Of each function, from its name or its parameters to its end. */
  readonly functions: readonly number[];
}

/** The number of lines; a newline at the end does not begin another. */
export const linesOf = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** @throws Error when `source` cannot be parsed. */
export function measureSource(file: string, source: string): Measured {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const lineAt = (offset: number) => source.slice(0, offset).split('\n').length;
  const functions: number[] = [];
  const measure = ({ start, end }: { readonly start: number; readonly end: number }) => {
    functions.push(lineAt(end) - lineAt(start) + 1);
  };
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  return { lines: linesOf(source), functions };
}
