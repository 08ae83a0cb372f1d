/** The files of a backup, by names with `/`: a directory or one archive. */
export type BackupFiles = {
  /** For people. */
  readonly place: string;
  /** The bytes of a file; null if there is none. */
  read(name: string): Promise<Buffer | null>;
  has(name: string): Promise<boolean>;
  names(): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** Files that a backup is written to. A write replaces a file whole or not at all. */
export type WritableBackupFiles = BackupFiles & {
  write(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** What is written stays if the run is interrupted. */
  readonly grows: boolean;
  /** Everything is right: what was there before may go. */
  publish(): Promise<void>;
};
