/**
 * `docs/checking.md` says what the checks themselves say. Bring it up to date with
 * `MRTR_WRITE_DOCS=1 npx vitest run --project tests tests/check/document.test.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { CHECKS, main } from '@mrtr/check';
import { expect, it } from 'vitest';
import { FAULTS } from './faults.ts';

const DOCUMENT = new URL('../../docs/checking.md', import.meta.url);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** What to do is said once for neighbours that need the same. */
const checksTable = (): string =>
  table(
    ['Check', '', 'Expected of the server', 'Where it is broken'],
    CHECKS.map(({ id, level, expected, remedy }, at) => [
      `\`${id}\``,
      level,
      cell(expected),
      CHECKS[at - 1]?.remedy === remedy ? 'as above' : cell(remedy),
    ]),
  );

/** `exactly.test.ts` and `right.test.ts` measure what stands here. */
const proofsTable = (): string =>
  table(
    ['Check', 'On the server with its fault', 'Also found there', 'Without the fault'],
    FAULTS.map(({ id, found }) => [
      `\`${id}\``,
      found[id] ?? '',
      Object.entries(found)
        .flatMap(([other, verdict]) => (other === id ? [] : [`\`${other}\` ${verdict}`]))
        .join(', ') || 'nothing',
      id === 'state.forged' ? 'not applicable: nothing is readable' : 'pass',
    ]),
  );

async function help(): Promise<string> {
  const texts: string[] = [];
  const out = { write: (text: string) => texts.push(text) } as unknown as NodeJS.WriteStream;
  await main(['--help'], { out, err: out });
  return `\`\`\`\n${texts.join('').trimEnd()}\n\`\`\``;
}

it('the generated blocks of docs/checking.md are up to date', async () => {
  const blocks: Readonly<Record<string, string>> = {
    checks: checksTable(),
    proofs: proofsTable(),
    options: await help(),
  };
  const text = readFileSync(DOCUMENT, 'utf8');
  const fresh = Object.entries(blocks).reduce(
    (document, [name, block]) =>
      document.replace(
        new RegExp(`(<!-- begin: ${name} -->\n)[\\s\\S]*?(<!-- end: ${name} -->)`),
        (_, begin: string, end: string) => `${begin}${block}\n${end}`,
      ),
    text,
  );
  if (process.env.MRTR_WRITE_DOCS) writeFileSync(DOCUMENT, fresh);
  else expect(text).toBe(fresh);
  for (const name of Object.keys(blocks)) expect(fresh).toContain(`<!-- begin: ${name} -->`);
});

it('the faults of the bare server are those that the checks look for', () => {
  expect(FAULTS.map(({ id }) => id).toSorted()).toEqual(CHECKS.map(({ id }) => id).toSorted());
});
