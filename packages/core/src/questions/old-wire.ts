/** Questions in the spelling of old clients. */
import type { InputRequest } from '@modelcontextprotocol/server';

type Json = Readonly<Record<string, unknown>>;
type Titled = Json & { readonly oneOf: readonly { readonly const: unknown; readonly title: unknown }[] };

/**
 * `request` for a client at 2025-11-25. Titled choices go out as `enum` with `enumNames`: SDKs of older revisions do not
 * know `oneOf`, and refuse the whole form.
 */
export function onOldWire<R extends InputRequest>(request: R): R {
  const { requestedSchema } = (request.params ?? {}) as { requestedSchema?: { readonly properties?: Json } };
  const properties = requestedSchema?.properties;
  if (!properties || !Object.values(properties).some(isTitledChoice)) return request;
  const spelt = Object.entries(properties).map(([name, field]) => [
    name,
    isTitledChoice(field) ? asEnum(field) : field,
  ]);
  const params = {
    ...request.params,
    requestedSchema: { ...requestedSchema, properties: Object.fromEntries(spelt) },
  };
  return { ...request, params };
}

const isTitledChoice = (field: unknown): field is Titled => Array.isArray((field as Json | null)?.oneOf);

function asEnum({ oneOf, ...rest }: Titled): Json {
  return { ...rest, enum: oneOf.map((choice) => choice.const), enumNames: oneOf.map(({ title }) => title) };
}
