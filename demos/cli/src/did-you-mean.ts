/** `Did you mean`: the name that somebody meant who mistyped it. */

/** ` Did you mean 'basic'?`, or nothing. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const [word, all] = [typed.toLowerCase(), names.map((name) => name.toLowerCase())];
  const at = [
    (name: string) => name === word || isOneSlipAway(word, name),
    (name: string) => word.length > 1 && (name.startsWith(word) || word.startsWith(name)),
  ]
    .map((isNear) => all.findIndex(isNear))
    .find((found) => found >= 0);
  return at === undefined ? '' : ` Did you mean '${names[at]}'?`;
}

/** Whether one letter is added, left out or another one, or two neighbours are swapped. */
function isOneSlipAway(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [rest, otherRest] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  const swapped = rest.length === 2 && rest === [...otherRest].reverse().join('');
  return shorter > 1 && (swapped || Math.max(rest.length, otherRest.length) <= 1);
}
