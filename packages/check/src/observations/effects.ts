/** Counts effects with a probe. */
import type { Session } from '../session/session.ts';
import { numberIn, type Probe } from '../target/probe.ts';
import { shorten } from '../wire/json.ts';

/**
 * `none`: the operation only reads. `unobserved`: it may write, and no probe was given. `observed`: the probe is steady,
 * and an honest call changes it. `blind`: the probe given does not show effects.
 */
export type EffectsMode = 'none' | 'unobserved' | 'observed' | 'blind';

export type Reading = string | undefined;

export class Effects {
  readonly #probe: Probe | undefined;
  mode: EffectsMode;
  reason = '';
  /** Whether asking alone has an effect. Then an effect proves nothing about an attack that is asked again. */
  asking = false;
  readings = 0;
  last: Reading;
  /** The change that an honest call makes to the probe's number, if the probe has one. */
  unit: number | undefined;
  #lastUnit: number | undefined;
  #readOnly = false;

  constructor(probe: Probe | undefined) {
    this.#probe = probe;
    this.mode = probe ? 'observed' : 'unobserved';
  }

  /** Expects no effects, because the operation only reads. */
  expectNone() {
    this.#readOnly = true;
    if (this.#probe === undefined) this.mode = 'none';
  }

  /** Sets the mode from readings: two before an honest call, one after each question, one at its end, one soon after. */
  calibrate([first, before, ...rest]: readonly Reading[]) {
    if (this.#probe === undefined) return;
    const [lastAsked, after, later] = rest.slice(-3);
    this.asking = rest[0] !== before;
    if (first !== before)
      this.blind(`the probe changes by itself: ${clipChange(first, before, ', and right after it ')}`);
    else if (after !== later) this.late(after, later);
    else if (before === after && this.#readOnly) this.mode = 'none';
    else if (before === after)
      this.blind(
        `an honest call does not change the probe, which reads ${clip(after)} before and after it. If its effect happens once for these arguments, ${VARY}`,
      );
    this.unit = difference(before, after);
    this.#lastUnit = difference(lastAsked, after);
  }

  /**
   * The probe's only number, even if an honest call does not change it: a count of open calls, or memory. Undefined if
   * asking has an effect: the probe then counts questions, not the resources that they hold.
   */
  async gauge() {
    if (this.mode === 'observed' && this.asking) return undefined;
    return numberIn(await this.#probe?.());
  }

  async read() {
    if (this.#probe === undefined || this.mode === 'blind') return undefined;
    this.readings++;
    this.last = await this.#probe();
    return this.last;
  }

  async since(before: Reading, session?: Session) {
    if (this.#probe === undefined) return this.mode === 'none' ? false : undefined;
    if (this.mode === 'blind') return undefined;
    const after = await this.read();
    if (after === before) return false;
    const detail = clipChange(before, after, ' → ');
    session?.record({ kind: 'effect', instance: 'server', name: 'probe', detail });
    return true;
  }

  /** The change between two readings, in effects of one honest call. Undefined if the probe has no single number. */
  count(before: Reading, after: Reading, unit = this.unit) {
    if (before === after) return 0;
    const change = difference(before, after);
    return change === undefined || unit === undefined ? undefined : change / unit;
  }

  /**
   * The change between two readings, in effects of one last retry. If a call also has an effect before its last question,
   * the retry that approves changes the probe by less than the whole call.
   */
  countOfLast(before: Reading, after: Reading) {
    return this.count(before, after, this.#lastUnit ?? this.unit);
  }

  blind(reason: string) {
    this.mode = 'blind';
    this.reason = reason;
    return reason;
  }

  /** Sets the mode to blind because the probe shows an effect late: the next call would get the blame. */
  late(atOnce: Reading, soon: Reading) {
    return this.blind(
      `the probe changes after the answer has come: from ${clipChange(atOnce, soon, ' to ')} soon after`,
    );
  }
}

/** What to give where an effect happens once for the same arguments. */
export const VARY =
  'give --vary NAME, the argument that is new in each call (a number counts up from the given one, in each run again)';

export const ONCE_BY_NATURE = `an honest call with the same arguments does not change the probe any more: this effect happens once for these arguments; ${VARY}`;

/** The change of the probe's only number. Undefined if it did not change, or there is no single number. */
export function difference(before: Reading, after: Reading) {
  const [from, to] = [numberIn(before), numberIn(after)];
  return from === undefined || to === undefined || from === to ? undefined : to - from;
}

/** The wait before a probe is read again, for effects that come after the answer. In milliseconds. */
export const SOON_MS = 300;

const MAX_READING = 60;

const onOneLine = (reading: Reading) => (reading ?? 'nothing').replace(/\s+/g, ' ');
const clip = (reading: Reading) => shorten(onOneLine(reading), MAX_READING);

/** Two readings, each from shortly before the place where they differ. */
export function clipChange(before: Reading, after: Reading, between: string) {
  const texts = [before, after].map(onOneLine);
  const [from = '', to = ''] = texts;
  let at = 0;
  while (at < from.length && from[at] === to[at]) at++;
  const isShort = Math.max(from.length, to.length) <= MAX_READING;
  const start = isShort ? 0 : Math.max(0, at - MAX_READING / 2);
  return texts.map((text) => (start > 0 ? '…' : '') + clip(text.slice(start))).join(between);
}

export const describeChange = (before: Reading, after: Reading) =>
  `the probe went from ${clipChange(before, after, ' to ')}`;

export const UNCOUNTED = 'the probe holds no single number, so that effects cannot be counted';
