import type { RedactorOptions } from '@stemma/redaction';
import type { CallReports } from './call-reports.ts';

/** The rules that take secrets out of calls. Without them no call is recorded that they are for. */
export class CallRules {
  redact: ((text: string) => string) | undefined;
  /** True if they cannot be read. */
  areBroken = false;
  /** Undefined: they are there, or there are none. */
  ready: Promise<void> | undefined;

  constructor(rules: RedactorOptions | undefined, reports: CallReports) {
    this.ready =
      rules &&
      openRules(rules).then(
        (redact) => {
          this.redact = redact;
          this.ready = undefined;
        },
        (error: unknown) => {
          this.areBroken = true;
          this.ready = undefined;
          reports.noRules(error);
        },
      );
  }
}

const openRules = async (rules: RedactorOptions): Promise<(text: string) => string> => {
  const { openTextRules } = await import('#redacting-backend');
  return openTextRules(rules);
};
