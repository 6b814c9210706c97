import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';

const files = projectFiles();

/** Every line of the project that `pattern` matches, as `file:line match`. */
function findings(pattern: RegExp): string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, at) => {
        const match = pattern.exec(line);
        return match ? [`${file}:${at + 1} ${match[0]}`] : [];
      }),
  );
}

test('no file names a package registry', () => {
  expect(
    findings(/\b(?:registry|npm|npmjs|packages?|mirrors?)\.[\w.-]*\b(?:com|org|net|io|dev|cloud)\b/i),
  ).toEqual([]);
});

test('no file names a path of the machine it was written on', () => {
  expect(findings(/\/(?:(?:work|root)\/|farm)/)).toEqual([]);
});

test('no file has a vague name such as utils', () => {
  const vague = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\.[^/]*)?(?:\/|$)/;
  expect(files.filter((file) => vague.test(file))).toEqual([]);
});

test('in documents, npx runs what is installed, or a package whose owner is known', () => {
  // Anybody can take an unpublished name, and ours are not published yet.
  const known =
    /^npx (?:--no-install.*|(?:-[yp] )*(?:pnpm@12|tsx|@modelcontextprotocol\/[a-z]+(?:@[\d.]+)?))$/;
  const run = findings(/(?<![\w-])npx (?:-\S+ )*[^\s`'"|\\]+/).filter((found) => /^[^:]+\.md:/.test(found));
  expect(run.length).toBeGreaterThan(10);
  expect(run.filter((found) => !known.test(found.slice(found.indexOf(' ') + 1)))).toEqual([]);
});

test('every file name is kebab-case, except documents that are usually in capitals', () => {
  const kebab = /^\.?[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
  const document = /^[A-Z]+(?:\.md)?$/;
  const offenders = files.filter(
    (file) => !file.split('/').every((name) => kebab.test(name) || document.test(name)),
  );
  expect(offenders).toEqual([]);
});

test('every dependency stands in docs/dependencies.md with its reason', () => {
  const manifests = files.filter((file) => /(?:^|\/)package\.json$/.test(file));
  const names = manifests.flatMap((file) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(
      textOf(file),
    );
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies });
  });
  const reasons = textOf('docs/dependencies.md');
  const missing = names.filter((name) => !name.startsWith('@mrtr/') && !reasons.includes(`\`${name}\``));
  expect([...new Set(missing)]).toEqual([]);
});
