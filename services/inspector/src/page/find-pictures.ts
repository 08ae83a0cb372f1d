/** Forms of pictures that every browser draws and none runs. */
const TYPES = 'image/(?:png|jpeg|gif|webp)';
const DATA_URL = new RegExp(`^data:(${TYPES});base64,([A-Za-z0-9+/=]+)$`);
const TYPE = new RegExp(`^${TYPES}$`);
const BASE64 = /^[A-Za-z0-9+/=]+$/;
/** Of more and larger ones the JSON has to do. */
const MOST = 20;
const MOST_CHARACTERS = 16 * 1024 * 1024;
const MOST_VALUES = 10_000;

export type PictureData = { readonly type: string; readonly base64: string };

/** The picture that a `data:` address holds; undefined for any other, as the page fetches nothing from other hosts. */
export const pictureOf = (address: string): PictureData | undefined => {
  if (address.length > MOST_CHARACTERS) return undefined;
  const [, type, base64] = DATA_URL.exec(address) ?? [];
  return type === undefined || base64 === undefined ? undefined : { type, base64 };
};

/** The pictures in a content, in order: as `data:` addresses, or as base64 beside a media type, as the APIs of models have them. */
export const picturesIn = (content: unknown): readonly PictureData[] => {
  const found: PictureData[] = [];
  const waiting: unknown[] = [content];
  for (let looked = 0; waiting.length > 0 && looked < MOST_VALUES && found.length < MOST; looked += 1) {
    const value = waiting.pop();
    if (typeof value === 'string') {
      const picture = pictureOf(value);
      if (picture !== undefined) found.push(picture);
    } else if (typeof value === 'object' && value !== null) {
      const picture = withMediaType(value);
      if (picture === undefined)
        waiting.push(
          ...Object.values<unknown>(value as Readonly<Record<string, unknown>>)
            .slice(0, MOST_VALUES)
            .reverse(),
        );
      else found.push(picture);
    }
  }
  return found;
};

/** Anthropic Messages: `media_type`; Gemini: `mimeType` or `mime_type`. */
const withMediaType = (value: object): PictureData | undefined => {
  const { media_type, mimeType, mime_type, data } = value as Readonly<Record<string, unknown>>;
  const type = media_type ?? mimeType ?? mime_type;
  if (typeof type !== 'string' || typeof data !== 'string') return undefined;
  return TYPE.test(type) && data.length <= MOST_CHARACTERS && BASE64.test(data)
    ? { type, base64: data }
    : undefined;
};
