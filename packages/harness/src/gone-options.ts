/** Options of earlier versions. */
const NOW: Readonly<Record<string, string>> = {
  elicit: '`user`',
  createMessage: '`model`',
  listRoots: '`roots`, a list',
  title: '`{ ...transcript, title }` when the call has ended',
  participants: '`{ ...transcript, participants }` when the call has ended',
  now: 'a fake `performance.now` in your test',
  startOnce: "`client: 'modern-only'`",
};

/** @throws Error for an option of an earlier version, with what takes its place. */
export function rejectGoneOptions(given: object): void {
  const gone = Object.keys(given).find((name) => Object.hasOwn(NOW, name));
  if (gone !== undefined) throw new Error(`The option '${gone}' is gone. Write ${NOW[gone]} instead.`);
}
