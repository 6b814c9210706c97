import { type Transcript, tally } from '@mrtr/harness/transcript';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { describe, expect, test } from 'vitest';
import { run } from './terminal.test-support.ts';

const { database, test: testOnPostgres } = await postgresOfTheRun();

describe('pnpm demo', () => {
  test('--json prints only the transcript on stdout, and asks the person on stderr', async () => {
    const { code, out, err } = await run('option-g --json -- --tool work-item --answer ask', {
      typed: 'Duplicate\n4301\n',
    });
    expect(code).toBe(0);
    expect(err).toContain('How was #4522 resolved?');
    const transcript = JSON.parse(out) as Transcript;
    expect(transcript).toMatchObject({ format: 'mrtr-transcript', version: 1 });
    expect(tally(transcript)).toMatchObject({ rounds: 3, questions: 2, effects: { write: 1 } });
  });

  test('--mermaid prints a sequence diagram', async () => {
    const { out } = await run('tool-builder --mermaid');
    expect(out).toMatch(/^sequenceDiagram\n {2}title g · tool builder\n/);
    expect(out).toContain('P2->>P3: audit: Tokyo\n');
  });

  test('--deploy draws a call whose second round reaches another version', async () => {
    const { out } = await run('option-g --deploy reworded');
    expect(out).toMatch(/a new version is deployed: reworded/);
    expect(out).toMatch(/"What size, please\?"[\s\S]*Ordered: colour red, size L, ticket T1\./);
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test('approve says of each client what its yes proves, or that none counted', async () => {
    const { code, out, err } = await run('approve --shape g');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const text = out.replaceAll(/\s+/g, ' ');
    expect(
      [...text.matchAll(/A yes counted, assurance '(\S+)'\. (?:A|The)|No yes counted/g)].map(
        ([, assurance]) => assurance,
      ),
    ).toEqual(['page', 'page', 'page', 'form', undefined]);
    expect(text).toContain(
      'No person saw a question; ☺ marks every answer. No yes counted. Item written 0×.',
    );
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test('a demo in several shapes draws each of them, under its title', async () => {
    const { code, out, err } = await run('prompt-and-resource --answer decline');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.match(/^ shape . · .+$/gm)).toEqual([
      ' shape F · once',
      ' shape H · linear',
      ' shape I · resolve',
      ' shape J · journal',
    ]);
    expect(out.match(/^ {2}client +server$/gm)).toHaveLength(8);
    expect(out.match(/✗ error -32600 /g)).toHaveLength(8);
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test('--shape draws one shape', async () => {
    const { out } = await run('sampling-and-roots --shape j --client legacy --legacy shim');
    expect(out.match(/^ shape . · .+$/gm)).toEqual([' shape J · journal']);
    expect(out).toMatch(/1 round · handler entered 3× · a stream held open\n$/);
  });

  test('a resource that asks an old client is drawn over its open stream', async () => {
    const { out } = await run('prompt-and-resource --shape j --client legacy --legacy shim');
    expect(out.slice(out.lastIndexOf('  client'))).toMatchInlineSnapshot(`
      "  client                                                          server
          │  resources/read report://quarterly                             │
          ├───────────────────────────────────────────────────────────────▶┃ entry 1
          │                                          effect figures: runs  ┃
          │  elicitation/create  "In which currency?"                      ┃
          │◀───────────────────────────────────────────────────────────────┨
          │  ☺ EUR                                                         ┃
          │  accept {"currency":"EUR"}                                     ┃
          ├───────────────────────────────────────────────────────────────▶┃ entry 2
          │                                       effect figures: skipped  ┃
          │  Profit: 300 k EUR.                                            ┃
          │◀───────────────────────────────────────────────────────────────┤

        1 round · handler entered 2× · a stream held open
      "
    `);
  });

  test.each([
    ['option-g', 'end step run 1×'],
    ['option-g --answer decline', 'end step run 0×'],
    ['option-i', 'body run 1×'],
  ])('%s: of a tool in parts, the part that acts is counted: %s', async (line, counted) => {
    expect((await run(line)).out).toContain(` · ${counted} · `);
  });

  test('a database that cannot be used gives an error without the password, and the exit code 1', async () => {
    const { code, out, err } = await run('option-h --postgres postgres://ada:secret@127.0.0.1:1/calls');
    expect(code).toBe(1);
    expect(err).toBe('PostgreSQL at 127.0.0.1:1/calls cannot be used: connect ECONNREFUSED 127.0.0.1:1\n');
    expect(out).not.toContain('secret');
  });

  testOnPostgres('any instance of option-h resumes a call, with its calls in a PostgreSQL', async () => {
    const { code, out, err } = await run('option-h --postgres --hosting fleet --tool work-item', {
      env: { MRTR_POSTGRES: await database() },
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^ option H on PostgreSQL +modern client · fleet of three\n\n PostgreSQL .+\.\n\n/);
    expect(out).toMatch(/3 rounds · handler entered 1× · item written 1× · 1 frame held between rounds\n$/);
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });
});
