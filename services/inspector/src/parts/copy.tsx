import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** Copies a text, and says that it did; where the browser does not let it, it says that. */
export const Copy = ({
  text,
  words,
}: {
  readonly text: string;
  readonly words: string;
}): ComponentChildren => {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  const copy = (): void => {
    // Only pages of a safe origin have a clipboard.
    const clipboard = (navigator as { readonly clipboard?: Clipboard }).clipboard;
    if (clipboard === undefined) setState('failed');
    else
      clipboard.writeText(text).then(
        () => setState('done'),
        () => setState('failed'),
      );
  };
  return (
    <button class="plain copy" aria-live="polite" title={`Copy: ${words}`} onClick={copy}>
      {state === 'idle' ? `Copy ${words}` : state === 'done' ? 'Copied' : 'Not allowed'}
    </button>
  );
};
