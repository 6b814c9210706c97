import { type JsonObject, objects } from './wording.ts';

export interface Choice {
  readonly value: unknown;
  /** The value itself, if the choice has no title. */
  readonly title: unknown;
}

/** The choices of a form's field, in the spelling of either era. A hostile server may write anything in the field. */
export function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonObject): readonly Choice[] {
  if (Array.isArray(values)) {
    const titles = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value, title: titles[at] ?? value }));
  }
  const titled = objects(oneOf ?? anyOf).filter((one) => 'const' in one);
  return titled.map(({ const: value, title = value }) => ({ value, title }));
}
