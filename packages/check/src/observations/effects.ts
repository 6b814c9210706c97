/** Effects, as a probe sees them. */
import type { Session } from '../session/session.ts';
import { numberIn, type Probe } from '../target/probe.ts';
import { shorten } from '../wire/text.ts';

/**
 * `none`: the operation only reads, and no probe was given. `unobserved`: it may write, and no probe was given.
 * `observed`: the probe is steady, and an honest call changes it. `blind`: a probe was given that cannot tell.
 */
export type EffectsMode = 'none' | 'unobserved' | 'observed' | 'blind';

export type Reading = string | undefined;

export class Effects {
  readonly #probe: Probe | undefined;
  mode: EffectsMode;
  reason = '';
  /** Whether a question alone has an effect: then an effect says nothing about an attack that was asked again. */
  asking = false;
  readings = 0;
  /** By how much an honest call changes the probe's number, where it holds one. */
  unit: number | undefined;
  #lastUnit: number | undefined;

  constructor(probe: Probe | undefined, readOnly: boolean) {
    this.#probe = probe;
    this.mode = probe ? 'observed' : readOnly ? 'none' : 'unobserved';
  }

  /** Readings: twice before an honest call, after each of its questions, after its end, and soon after it. */
  calibrate([first, before, ...rest]: readonly Reading[], readOnly: boolean): void {
    if (this.#probe === undefined) return;
    const [lastAsked, after, later] = rest.slice(-3);
    this.asking = rest[0] !== before;
    if (first !== before)
      this.blind(`the probe changes by itself: ${clip(first)}, and right after it ${clip(before)}`);
    else if (after !== later) this.late(after, later);
    else if (before === after && readOnly) this.mode = 'none';
    else if (before === after)
      this.blind(`an honest call does not change the probe, which reads ${clip(after)} before and after it`);
    this.unit = difference(before, after);
    this.#lastUnit = difference(lastAsked, after);
  }

  /**
   * The probe's only number, also where an honest call does not change it: open calls, or memory. Where a question has an
   * effect, the probe counts questions, and says nothing about what is kept for them.
   */
  async gauge(): Promise<number | undefined> {
    if (this.mode === 'observed' && this.asking) return undefined;
    const reading = await this.#probe?.read();
    return reading === undefined ? undefined : numberIn(reading);
  }

  async read(): Promise<Reading> {
    if (this.mode !== 'observed' && this.mode !== 'none') return undefined;
    if (this.#probe) this.readings++;
    return this.#probe?.read();
  }

  async since(before: Reading, session?: Session): Promise<boolean | undefined> {
    if (this.mode === 'none' && this.#probe === undefined) return false;
    if (this.mode !== 'observed' && this.mode !== 'none') return undefined;
    const after = await this.read();
    if (after !== before) session?.evidence.effect(`${clip(before)} → ${clip(after)}`);
    return after !== before;
  }

  /** How many honest calls' worth of effects lie between two readings, where the probe holds one number. */
  count(before: Reading, after: Reading, unit = this.unit): number | undefined {
    if (before === after) return 0;
    const change = difference(before, after);
    return change === undefined || unit === undefined ? undefined : change / unit;
  }

  /**
   * The same in last retries. A call may also have an effect before its last question: then its last retry alone, which
   * brings the approval, changes the probe by less than the whole call.
   */
  countOfLast(before: Reading, after: Reading): number | undefined {
    return this.count(before, after, this.#lastUnit ?? this.unit);
  }

  blind(reason: string): string {
    this.mode = 'blind';
    this.reason = reason;
    return reason;
  }

  /** The same where it showed an effect too late: that would be taken for one of the next call. */
  late(atOnce: Reading, soon: Reading): string {
    return this.blind(
      `the probe changes after the answer has come: it read ${clip(atOnce)} then, and ${clip(soon)} soon after`,
    );
  }
}

/** By how much the probe's only number changed, where it did. */
export function difference(before: Reading, after: Reading): number | undefined {
  const [from, to] = [numberIn(before ?? ''), numberIn(after ?? '')];
  return from === undefined || to === undefined || from === to ? undefined : to - from;
}

/** How late a probe is looked at for effects that come after their answer, in milliseconds. */
export const SOON_MS = 300;

export const clip = (reading: Reading): string => shorten((reading ?? 'nothing').replace(/\s+/g, ' '), 60);
