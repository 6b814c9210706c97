/**
 * A member that is read from its owner when somebody reads it, for `Object.defineProperty`. Make it once for all owners:
 * where each object has a getter of its own, V8 makes the objects slow dictionaries, and keeps what the getter holds, such
 * as a whole request, until a major collection.
 */
export const sharedGetter = <Owner, Value>(read: (owner: Owner) => Value) => ({
  enumerable: true,
  configurable: true,
  get(this: Owner) {
    return read(this);
  },
});
