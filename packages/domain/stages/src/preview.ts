import { countCodePoints, takeCodePoints } from './code-points.ts';
import type { HeaderConfig } from './config.ts';
import type { Profile } from './profile.ts';
import { REDACTED } from './sanitise.ts';
import { isSecretLike } from './secrets.ts';
import { countOf } from './settings.ts';

export type Preview = {
  readonly content_preview: string;
  readonly content_preview_truncated: boolean;
  readonly content_preview_redacted: boolean;
};

/** The beginning of a text with plain line ends; only {@link REDACTED} if any part of it looks like a secret. */
export const previewOf = (
  profile: Profile,
  content: string,
  { previewChars, redactSecretLike }: Pick<HeaderConfig, 'previewChars' | 'redactSecretLike'>,
): Preview => {
  const text = content.replace(/\r\n?/g, '\n');
  if (redactSecretLike && isSecretLike(profile.secrets, text))
    return { content_preview: REDACTED, content_preview_truncated: false, content_preview_redacted: true };
  const limit = countOf(previewChars);
  const cut = limit > 0 && countCodePoints(text) > limit;
  return {
    content_preview: cut ? takeCodePoints(text, limit) : text,
    content_preview_truncated: cut,
    content_preview_redacted: false,
  };
};
