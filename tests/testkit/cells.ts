/** Every combination of one name of each list, joined as in `option g · unaskable · fleet`. */
export const namesOf = (...lists: readonly (readonly string[])[]): readonly string[] =>
  lists.reduce((names, list) => names.flatMap((name) => list.map((next) => `${name} · ${next}`)));
