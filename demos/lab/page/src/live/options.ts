/** The options that the page offers, and their authors' files. */

import options from 'virtual:options';
import type { SetUp, ToolWord } from '../../../src/protocol.ts';

export interface Offered {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly needsPostgres: boolean;
  /** By tool; without the tools that it is not written for. */
  readonly files: Readonly<Partial<Record<ToolWord, string>>>;
}

export const OFFERED: readonly Offered[] = options;

export const fileOf = ({ option, tool }: SetUp): string | undefined =>
  OFFERED.find(({ id }) => id === option)?.files[tool];
