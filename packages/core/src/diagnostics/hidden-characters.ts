/**
 * Characters that a reader does not see, or that change others: controls, line breaks, bidirectional marks, zero-width
 * characters, unusual spaces, unassigned and private ones; those that are blank, and no space by their category; and
 * marks that strike through a character, enclose it, or reach over to the next one, which may be ours. The harness has
 * the same list, because it may not import this package; a test compares the two.
 */
export const HIDDEN = [
  '[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]|(?! )\\p{Zs}',
  '[\\u2800\\u2d7f\\ufffc\\u{1107f}\\u{13441}\\u{13442}\\u{16fe4}\\u{1bc9d}\\u{1bc9e}\\u{1d159}]',
  '[\\u1cd4\\u1ce2-\\u1ce8\\u{10a39}\\u{16af0}-\\u{16af4}\\u{1d167}-\\u{1d169}]',
  '[\\u0315\\u0334-\\u0338\\u035c-\\u0362\\u1dcd\\u1dfc\\u20d2\\u20d3\\u20d8-\\u20da\\u20e5\\u20e6\\u20ea\\u20eb\\p{Me}]',
].join('|');
