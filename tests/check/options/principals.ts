/** The principals of the options' servers, and the key that seals state. */
export const PRINCIPALS = [
  { subject: 'alice', token: 'the-token-of-alice' },
  { subject: 'mallory', token: 'the-token-of-mallory' },
];

export const KEY = 'one key of thirty-two bytes or more, which all instances share';
