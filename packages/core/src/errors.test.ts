import { expect, test, vi } from 'vitest';
import * as errors from './errors.ts';

const { MrtrError: _, ...classes } = errors;

test('every class has one code, which is its name, and every error has its class name', () => {
  const made = Object.values(classes).map(
    (Class) => new (Class as new (...args: unknown[]) => errors.MrtrError)('x'),
  );
  const names = made.map(({ name }) => name);
  expect(names).toEqual(Object.keys(classes));
  expect(made.map(({ code }) => code)).toEqual(
    names.map((name) => name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()),
  );
  for (const error of made) expect(error).toBeInstanceOf(errors.MrtrError);
});

test('an error of another copy of this package is an instance of its class, and of no other', async () => {
  vi.resetModules();
  const copy: typeof errors = await import('./errors.ts');
  expect(copy.StoreFull).not.toBe(errors.StoreFull);
  for (const theirs of [new copy.StoreFull('x'), new copy.ElicitationDeclined('declined')]) {
    const known = Object.values(errors).filter((Class) => theirs instanceof Class);
    expect(known.map(({ name }) => name)).toEqual(['MrtrError', theirs.name]);
  }
});

test('an error of a class that was derived from one of ours is an instance of both', () => {
  class QueueFull extends errors.StoreFull {}
  expect(new QueueFull('x')).toBeInstanceOf(QueueFull);
  expect(new QueueFull('x')).toBeInstanceOf(errors.StoreFull);
  expect(new errors.StoreFull('x')).not.toBeInstanceOf(QueueFull);
});

test("an error's name comes from its code, so that it survives a minifier", () => {
  const a = class extends errors.MrtrError {
    static override readonly code = 'queue_full';
  };
  expect([a.name, new a('x').name, String(new a('x'))]).toEqual(['a', 'QueueFull', 'QueueFull: x']);
  expect(new a('x').stack).toMatch(/^QueueFull: x\n/);
});

test('a declined elicitation says whether it was declined or cancelled, and does not speak of the user', () => {
  const [declined, cancelled] = [
    new errors.ElicitationDeclined('declined'),
    new errors.ElicitationDeclined('cancelled'),
  ];
  expect([declined.kind, declined.message]).toEqual(['declined', 'The question was declined.']);
  expect([cancelled.kind, cancelled.message]).toEqual(['cancelled', 'The question was dismissed.']);
});
