/** The limits that docs/security.md gives, by name. */
import { textOf } from '../testkit/project-files.ts';

export const LIMITS: ReadonlyMap<string, number> = new Map(
  [...textOf('docs/security.md').matchAll(/^\| ([^|]+) \| ([\d ]+) \| [^|]+ \| [^|]+ \|$/gm)].map(
    ([, limit, value]) => [limit as string, Number((value as string).replaceAll(' ', ''))] as const,
  ),
);
