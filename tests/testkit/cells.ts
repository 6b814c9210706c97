/** All combinations of one name per list, joined like `option g · unaskable · fleet`. */
export const namesOf = (...lists: readonly (readonly string[])[]): readonly string[] =>
  lists.reduce((names, list) => names.flatMap((name) => list.map((next) => `${name} · ${next}`)));
