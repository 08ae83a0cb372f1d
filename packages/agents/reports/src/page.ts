import { sha256 } from '@stemma/canonical';
import { html, type Html } from './html.ts';
import { STYLE } from './style.ts';

/** What a browser may do with a page: nothing but show it with its own style sheet, named by its hash. */
export const REPORT_POLICY = `default-src 'none'; style-src 'sha256-${Buffer.from(sha256(Buffer.from(STYLE))).toString('base64')}'; base-uri 'none'; form-action 'none'`;

/**
 * A whole page in one file. Its policy forbids everything but its own style sheet: no script runs, nothing is fetched,
 * nothing is sent, whatever the texts on it hold.
 */
export const page = (title: string, body: Html): string => {
  // Not a character may stand beside the sheet: the policy names the hash of what the element holds.
  const sheet = { html: `<style>${STYLE}</style>` };
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${REPORT_POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${sheet}
      </head>
      <body>
        ${body}
      </body>
    </html> `.html;
};
