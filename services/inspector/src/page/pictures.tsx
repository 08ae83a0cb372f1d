import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { picturesIn, type PictureData } from './find-pictures.ts';

/** A picture, or that the browser cannot draw it. */
export const Picture = ({
  picture: { type, base64 },
  words,
}: {
  readonly picture: PictureData;
  readonly words: string;
}): ComponentChildren => {
  const [broken, setBroken] = useState(false);
  if (broken) return <p class="quiet">{words}: its bytes are no picture that this browser can draw.</p>;
  return (
    <img class="picture" src={`data:${type};base64,${base64}`} alt={words} onError={() => setBroken(true)} />
  );
};

export const Pictures = ({ content }: { readonly content: unknown }): ComponentChildren => {
  const pictures = picturesIn(content);
  return (
    pictures.length > 0 && (
      <div class="pictures">
        {pictures.map((picture, at) => (
          <Picture
            key={at}
            picture={picture}
            words={`Picture${pictures.length === 1 ? '' : ` ${at + 1} of ${pictures.length}`}, ${picture.type}`}
          />
        ))}
      </div>
    )
  );
};
