/** Bindings tie a token to its request: method, target, arguments, principal and audience. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../wire/canonical-json.ts';
import type { MrtrMethod } from '../wire/wire.ts';
import type { SealingKey } from './key-ring.ts';

/** The fields of a request that its token must match. */
export interface Binding {
  readonly method: MrtrMethod;
  readonly target: string;
  readonly arguments: unknown;
  /** {@link canonicalArguments} computes it once. */
  canonicalArguments?: string;
  readonly audience: string;
  readonly principal: string | undefined;
}

/** The bytes that {@link writeBinding} writes. */
export const BINDING_BYTES = 18;

/**
 * Writes 16 bytes of a salted SHA-256 over all fields, which decide, and two bytes of checksums of single fields. The
 * checksums only help the operator's log to name the field that differs; five hashes would make the token long.
 *
 * @throws RangeError when the arguments are nested too deeply to digest.
 */
export function writeBinding(binding: Binding, key: SealingKey, to: Buffer, at: number) {
  const { method, target, audience, principal } = binding;
  const bound = JSON.stringify([key.salt, method, target, audience, principal ?? null]);
  // A `binary` string takes half the time of a buffer.
  to.write(hash('sha256', bound + canonicalArguments(binding), 'binary'), at, 16, 'binary');
  to.writeUInt16BE(checksums(binding), at + 16);
}

/**
 * The text of the arguments, for digests.
 *
 * @throws RangeError or TypeError for arguments that have no canonical form.
 */
export function canonicalArguments(binding: Binding) {
  binding.canonicalArguments ??= canonicalJson(binding.arguments ?? {});
  return binding.canonicalArguments;
}

/** Guesses from the checksums which field of a token and a request differs. For the log. */
export function differingField(sealed: Buffer, binding: Binding): string {
  const differs = sealed.readUInt16BE(16) ^ checksums(binding);
  if (differs & 0xf800) return 'target';
  if (differs & 0x07c0) return 'audience';
  if (differs & 0x003f) return 'principal';
  return 'arguments';
}

const checksums = ({ method, target, audience, principal }: Binding) =>
  ((checksum(method + target) & 31) << 11) |
  ((checksum(audience) & 31) << 6) |
  (checksum(principal ?? '') & 63);

/** FNV-1a, folded. No secret depends on it. */
function checksum(text: string) {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum ^ (sum >>> 16);
}
