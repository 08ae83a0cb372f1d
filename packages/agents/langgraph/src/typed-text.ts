import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

/** A value as the serializer gives it: JSON as its text, anything else as its bytes in base64. */
export type TypedText = { readonly type: string; readonly text: string };

export const dump = async (serde: SerializerProtocol, value: unknown): Promise<TypedText> => {
  const [type, bytes] = await serde.dumpsTyped(value);
  return { type, text: Buffer.from(bytes).toString(type === 'json' ? 'utf8' : 'base64') };
};

export const load = (serde: SerializerProtocol, { type, text }: TypedText): Promise<unknown> =>
  serde.loadsTyped(type, type === 'json' ? text : new Uint8Array(Buffer.from(text, 'base64')));
