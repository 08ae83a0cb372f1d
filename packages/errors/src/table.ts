/** What one code means to a program (HTTP status, exit code, worth retrying) and to a person (help). */
export type ErrorRow = {
  readonly status: number;
  readonly exit: number;
  readonly retriable: boolean;
  readonly help: string;
  /** The help for a client of the HTTP API, who has no command line. */
  readonly helpOverHttp: string;
};

const row = (
  status: number,
  exit: number,
  retriable: boolean,
  help: string,
  helpOverHttp = help,
): ErrorRow => ({ status, exit, retriable, help, helpOverHttp });

/**
 * Every error that Stemma raises. Exit codes: 1 failed, 3 conflict, 4 not allowed, 5 verification
 * failed, 64 usage, 74 input or output, 130 cancelled (as a shell says it of Ctrl-C). A code, once published, keeps its meaning.
 */
// prettier-ignore
export const ERRORS = {
  // usage and input
  E_USAGE: row(400, 64, false, 'Run the command with --help to see what it takes.', 'See /openapi.json for what the endpoint takes.'),
  E_CANCELLED: row(499, 130, false, 'What was acknowledged before the cancellation stays recorded; run the command again for the rest.'),
  E_INPUT_NOT_JSON: row(400, 1, false, 'Give one JSON document, or one JSON document a line.'),
  E_INPUT_TRUNCATED: row(400, 1, false, 'The input ends in the middle of a value; get the whole file and try again.'),
  E_INPUT_TOO_DEEP: row(400, 1, false, 'Nest values at most 512 levels deep, contents at most 300.'),
  E_INPUT_TOO_LARGE: row(413, 1, false, 'Split the input, or leave the oversized value out.'),
  E_INPUT_FORBIDDEN_KEY: row(400, 1, false, 'Rename the keys __proto__, constructor and prototype.'),
  E_INPUT_REPEATED_KEY: row(400, 1, false, 'Keep one of the two values: a key stands once in an object.'),
  E_INPUT_SURROGATE: row(400, 1, false, 'Remove unpaired surrogates: texts must be well-formed Unicode.'),
  E_INPUT_NUMBER: row(400, 1, false, 'Write integers beyond ±(2^53−1) as texts.'),
  E_INPUT_ENCODING: row(400, 1, false, 'Convert the input to UTF-8 and try again.'),
  E_INPUT_CHANGED: row(409, 74, true, 'Import the file again when no program writes to it.'),
  E_INPUT_SHAPE: row(400, 1, false, 'Compare the input with the format in docs/formats/import.md.'),
  E_FORMAT_UNKNOWN: row(400, 1, false, 'Name the format with --format; `stemma import --help` lists them.', 'Use a format that is listed in docs/formats/import.md.'),
  E_ROLE_UNKNOWN: row(400, 1, false, 'Use one of the roles system, developer, user, assistant, tool, function.'),
  E_CONTENT_TOO_LARGE: row(413, 1, false, 'Split the content: one content has at most 64 MiB.'),
  // the tree
  E_NODE_INVALID: row(400, 1, false, 'See docs/glossary.md for the headers a node has.'),
  E_NODE_NOT_FOUND: row(404, 1, false, '`stemma show H @t0` lists the nodes.', 'GET /api/histories/{history}/tree lists the nodes.'),
  E_NODE_EXISTS: row(409, 3, false, 'Choose another id: ids are unique in the whole history.'),
  E_PLACEMENT: row(409, 1, false, 'Insert under ^ah or ^sys, or attach a block (offset ≠ 0) to a sealed turn.'),
  E_TWO_CORES: row(409, 1, false, 'Give a turn one core: either one mc, or blocks at offset 0.'),
  E_SEALED: row(409, 1, false, 'Add or remove only blocks at an offset other than 0: the core of a sealed turn never changes.'),
  E_HEADER_IMMUTABLE: row(409, 1, false, 'Remove the node and insert it under a new id.'),
  E_POLICY_INVALID: row(400, 1, false, 'Give a policy as {max_blocks, keep_turns, pins}.'),
  E_EXPORT_INVALID: row(400, 1, false, 'Give an export as `stemma export` prints it: {spec_version, cycle, root}.', 'Give an export as GET /api/histories/{history}/export returns it: {spec_version, cycle, root}.'),
  E_NAME_INVALID: row(400, 64, false, 'Use letters, digits, _ . - and at most 128 characters.'),
  E_NAME_TAKEN: row(409, 3, false, 'Choose another name: a name belongs to one position or one branch of a history.'),
  E_SELECTOR_INVALID: row(400, 64, false, 'Write a selector as [@position] and steps such as ^seq .cb[role=\'tool\'] or #id; a position as @t0 @t-1 @c3 @s57 @name:NAME.'),
  E_SNAPSHOT_NOT_FOUND: row(404, 1, false, '`stemma snapshots H` lists the snapshots.', 'GET /api/histories/{history}/snapshots lists the snapshots.'),
  E_SNAPSHOT_RANGE_KIND_MISMATCH: row(400, 64, false, 'Use @t for both ends of a range, or @c for both.'),
  E_SNAPSHOT_RANGE_WILDCARD: row(400, 64, false, 'Use @* alone, or a range such as @t-5..@t0.'),
  E_BISECT_ENDS: row(409, 64, false, 'Give a good snapshot where the selector does not match and a bad one where it does.'),
  E_SNAPSHOT_RANGE_LIMIT: row(400, 64, false, 'Ask for fewer snapshots, or raise maxSnapshots.'),
  // compiler stages
  E_STAGES_CONFIG: row(400, 64, false, 'Give a configuration as {selection?, header?, frozen?, collapse?, prompt_summary?}; see docs/stages.md.'),
  E_STAGES_DIFFER: row(409, 5, false, 'Check that the snapshot belongs to this log, and that the log was not changed since.'),
  // histories and commands
  E_HOME_NOT_FOUND: row(404, 1, false, 'Import something first, or name the home with --home or STEMMA_HOME.', 'Import something first.'),
  E_HISTORY_NOT_FOUND: row(404, 1, false, '`stemma histories` lists the histories.', 'GET /api/histories lists the histories.'),
  E_HISTORY_AMBIGUOUS: row(409, 64, false, 'Give more characters of the id.'),
  E_HISTORY_EXISTS: row(409, 3, false, 'Import under another name, or leave the history as it is.'),
  E_BRANCH_NOT_FOUND: row(404, 1, false, '`stemma branches H` lists the branches of a history.', 'GET /api/histories/{history}/branches lists the branches of a history.'),
  E_NOT_ON_ANCESTOR_PATH: row(409, 1, false, 'Choose a position on the ancestor path of the branch, or use `stemma fork`, which starts at any position.', 'Choose a position on the ancestor path of the branch, or use the step fork, which starts at any position.'),
  E_EXPERIMENT_INVALID: row(400, 1, false, 'Give a file that `stemma experiment export` wrote.', 'Give a file that was exported as an experiment.'),
  E_EXPERIMENT_DIVERGED: row(409, 5, false, '`stemma compare` shows the differences; the new history stays.', 'GET /api/histories/{history}/compare shows the differences; the new history stays.'),
  E_INTERVENTION_NOT_FOUND: row(404, 1, false, '`stemma interventions H` lists the interventions.', 'GET /api/histories/{history}/interventions lists the interventions.'),
  E_CALL_NOT_FOUND: row(404, 1, false, '`stemma calls H` lists the calls.', 'GET /api/histories/{history}/calls lists the calls.'),
  E_COMMAND_REUSED: row(409, 3, false, 'Use a new id: a command id belongs to one command.'),
  E_COMMAND_INVALID: row(400, 64, false, 'See docs/formats/ for the shape of commands.'),
  E_CONFLICT: row(409, 3, true, 'Another writer was first: read the tip of the branch and try again.'),
  E_OUTCOME_UNKNOWN: row(503, 3, true, 'Send the same command again with the same id: it has at most one effect.'),
  // models that are asked
  E_MIND_INVALID: row(400, 64, false, 'Name a mind as openai:MODEL, openai.responses:MODEL or anthropic:MODEL, each with @URL or not, or offline.'),
  E_MIND_NOT_ALLOWED: row(403, 4, false, 'Name the mind in STEMMA_MINDS of the server.', 'Ask the operator to name the mind in STEMMA_MINDS.'),
  E_MIND_KEY_MISSING: row(403, 4, false, 'Set OPENAI_API_KEY or ANTHROPIC_API_KEY in the environment.', 'Ask the operator to set the key of the provider.'),
  E_MIND_UNREACHABLE: row(502, 74, true, 'Check the address and the network, then run the command again.', 'Try again in a moment.'),
  E_MIND_TIMEOUT: row(504, 74, true, 'Try again, or raise STEMMA_MIND_TIMEOUT (seconds).', 'Try again, or ask the operator for more time.'),
  E_MIND_BUSY: row(503, 74, true, 'Wait, or lower STEMMA_MIND_PER_MINUTE, then run the command again.', 'Try again later.'),
  E_MIND_FAILED: row(502, 74, true, 'Try again later: the provider failed.'),
  E_MIND_REFUSED: row(502, 1, false, 'The provider says why; change the request, the model or the key.'),
  E_MIND_ANSWER_INVALID: row(502, 1, false, 'Check that the address is that of the named API.'),
  E_MIND_ANSWER_TOO_LARGE: row(502, 1, false, 'Limit the answer, for instance with --set max_tokens=1000.', 'Limit the answer, for instance with max_tokens.'),
  E_RUN_REUSED: row(409, 3, false, 'Use a new id: a run id belongs to one run.'),
  // the record
  E_RECORD_DAMAGED: row(500, 5, false, 'Restore the record from a copy, or `stemma salvage` the history.', 'Ask the operator to restore the record from a copy, or to salvage the history.'),
  E_PARTITION_CLOSED: row(503, 5, false, '`stemma verify` names the record; `stemma ack PARTITION@OFFSET` opens the partition.', 'Ask the operator to verify the log and to acknowledge the damaged record.'),
  E_HISTORY_DAMAGED: row(409, 5, false, 'Restore the record from a copy, or `stemma salvage` the history.', 'Ask the operator to restore the record from a copy, or to salvage the history.'),
  E_HISTORY_DEFECTIVE: row(409, 5, false, '`stemma verify` names the frame; `stemma salvage` starts a new history from the last good snapshot.', 'Ask the operator to salvage the history from its last good snapshot.'),
  E_VERSION_NEEDED: row(501, 1, false, 'Upgrade Stemma: a newer version wrote the log.'),
  E_FRAME_INVALID: row(500, 5, false, 'Restore the record from a copy: its bytes are not a frame in canonical form.'),
  E_FRAME_TOO_LARGE: row(413, 1, false, 'Split the command into smaller ones.'),
  E_CONTENT_MISSING: row(500, 5, false, 'Put the missing file back into the contents store (from a copy).'),
  E_CONTENT_DAMAGED: row(500, 5, false, 'Restore the file in the contents store from a copy.'),
  E_CALL_BODY_DAMAGED: row(500, 5, false, 'Run `stemma verify`: the bytes that were recorded of a call do not have their hash.', 'The bytes that were recorded of a call do not have their hash.'),
  E_CURSOR_LOST: row(409, 5, false, 'Run `stemma verify`: it names the records that were damaged or lost, and rebuilds the rows.', 'Ask the operator to verify the log: records were damaged or lost, and the rows must be rebuilt.'),
  E_CURSOR_MOVED: row(409, 3, true, 'Load the cursor again: another projector has moved it.'),
  E_LOG_BUSY: row(503, 74, true, 'Stop the process that holds the log, or wait for it to end.'),
  E_LOG_MISMATCH: row(409, 74, false, 'Name the directory of the expected log: this one holds another.'),
  E_LOG_CLOSED: row(503, 74, false, 'Open the log again.'),
  E_LOG_GONE: row(503, 74, false, 'Put the missing files back from a backup. For a new log, name another home with --home or STEMMA_HOME.', 'Ask the operator to put the missing files of the log back from a backup.'),
  E_LOG_NOT_FOUND: row(404, 74, false, 'Import something first, or name another log with STEMMA_LOG.'),
  E_LOG_NOT_EMPTY: row(409, 3, false, 'Choose an empty target, or one that holds a part of the same log.'),
  E_BROKERS_UNREACHABLE: row(503, 74, true, 'Check that the brokers run and that STEMMA_LOG names them.'),
  E_BROKERS_REFUSED: row(503, 74, false, 'Ask the operator of the brokers for the missing permission or setting.'),
  E_IO: row(503, 74, true, 'Check the path, its permissions and the free space of the disk.'),
  E_NOTHING_TO_ACK: row(404, 1, false, '`stemma verify` lists the damaged records.', 'Ask the operator which records are damaged.'),
  E_NOTHING_TO_SALVAGE: row(409, 1, false, 'Continue with the history: it is whole.'),
  // backups
  E_BACKUP_DAMAGED: row(500, 5, false, 'Restore from another backup: the message names the file of this one that is missing or altered.'),
  E_BACKUP_DIFFERS: row(409, 3, false, 'Back up to another directory: this backup is of another log, or of this one with another past.'),
  E_BACKUP_NOT_FOUND: row(404, 74, false, 'Name a directory or an archive that `stemma backup` wrote; to write one, a directory that is empty.', 'Name a backup that was written before; to write one, a directory that is empty.'),
  E_HOME_NOT_EMPTY: row(409, 3, false, 'Name a directory that is empty or not there: nothing is restored over what exists.'),
  // checkpoints
  E_LOG_TRUNCATED: row(500, 5, false, 'Restore the log from a backup: frames that the checkpoint counts are gone.'),
  E_LOG_ALTERED: row(500, 5, false, 'Restore the log from a backup: frames before the checkpoint are not what they were.'),
  E_CHECKPOINT_MISMATCH: row(409, 5, false, 'Name the home of the log that the checkpoint is of; its first line has the id.'),
  E_CHECKPOINT_INVALID: row(400, 5, false, 'Use the file that `stemma checkpoint` wrote, and the public key that it printed.', 'Send a checkpoint as it was signed, and the public key that belongs to it.'),
  E_PROOF_INVALID: row(400, 5, false, 'Do not rely on it: the proof does not show what it claims.'),
  E_KEY_INVALID: row(400, 64, false, 'Give the line that `stemma checkpoint` printed as its public key, or a file that holds it.', 'Send the public key as one line: name, id and key.'),
  // rows
  E_ROWS_DAMAGED: row(503, 74, true, 'Try again: the rows are thrown away and built again from the log. If it happens again, check the disk.', 'Try again: the rows are built again. If it happens again, tell the operator.'),
  E_ROWS_UNWRITABLE: row(503, 74, true, 'Make room on the disk of the home, or mend it: the rows go on from where they stand.', 'Try again in a moment; if it stays so, ask the operator to make room on the disk.'),
  E_ROWS_VERSION: row(409, 74, false, 'Rebuild the rows with `stemma replay`.', 'Ask the operator to rebuild the rows.'),
  E_ROWS_BEHIND: row(503, 74, true, 'Check with `stemma doctor` that the projectors run and how far they are, then try again.', 'Try again in a moment; if it stays so, ask the operator whether the projectors run.'),
  E_ROWS_DIFFER: row(500, 5, false, 'Rebuild the rows with `stemma replay`; keep the old ones for a report.', 'Ask the operator to rebuild the rows and to keep the old ones for a report.'),
  E_ROWS_ERASED: row(503, 74, true, 'Try again: the rows begin anew without what was erased.'),
  E_DATABASE_UNREACHABLE: row(503, 74, true, 'Check that the database runs and that STEMMA_ROWS names it, then try again.'),
  E_DATABASE_UNTRUSTED: row(503, 74, false, 'Give a certificate authority with sslrootcert that signed the certificate of the database; the certificate must name its host.'),
  E_DATABASE_REFUSED: row(503, 74, false, 'Check the user, the password and the database in STEMMA_ROWS, and the permissions of the user.'),
  E_DATABASE_VERSION: row(501, 1, false, 'Upgrade Stemma: a newer version created the database.'),
  E_KEY_TOO_LONG: row(400, 1, false, 'Use an id of at most 512 UTF-8 bytes.'),
  E_READ_MODEL_UNKNOWN: row(404, 64, false, 'Use one of audit, diffs, stages, or the path of your own module.'),
  // serving
  E_NOT_FOUND: row(404, 1, false, 'See /openapi.json for the endpoints.'),
  E_METHOD_NOT_ALLOWED: row(405, 1, false, 'Use one of the methods in the header Allow; /openapi.json has those of every endpoint.'),
  E_REQUEST_SLOW: row(408, 74, true, 'Send the body without pauses, at 64 KiB a second or faster.'),
  E_TOO_MANY_REQUESTS: row(429, 74, true, 'Wait for answers before you send more requests on the same connection.'),
  E_QUERY_TIMEOUT: row(503, 74, true, 'Ask a narrower question, or raise --query-timeout (STEMMA_QUERY_TIMEOUT).', 'Ask a narrower question, or ask the operator for more time.'),
  E_NOT_ALLOWED: row(403, 4, false, 'Send the request to the address that the server prints at its start.'),
  E_ACTOR_REQUIRED: row(403, 4, false, 'Name the actor with --actor, STEMMA_ACTOR, or git config user.name.', 'Name the actor in the field actor, or the recorder in the field recorder.'),
  E_ACTOR_INVALID: row(400, 64, false, 'Use an actor of 1 to 256 bytes of UTF-8 without control characters.'),
  E_NOTES_INVALID: row(400, 64, false, 'Use notes of at most 64 KiB without control characters except tab and newline.'),
  E_CONFIG_INVALID: row(400, 64, false, 'Begin a key with a letter, then letters, digits, _ . - (at most 128); values are JSON, 64 KiB in all.'),
  E_HISTORY_ERASED: row(410, 1, false, 'It cannot be brought back: its key was destroyed on purpose.'),
  E_HISTORY_SEALED: row(409, 5, false, 'Put its key into the folder `keys` of the home (from where the history is written), then `stemma replay`.', 'Its key belongs into the folder `keys` of the home that is served.'),
  E_NOT_ERASABLE: row(409, 1, false, 'Only a history that was started with --erasable can be erased.', 'Only a history that was started with erasable can be erased.'),
  E_REDACTION_INVALID: row(400, 64, false, 'See docs/privacy.md for the rules of redaction.'),
  E_REDACTION_REFUSED: row(400, 1, false, 'Use another name or id: names are recorded as they are, nothing is taken out of them.'),
  E_REDACTION_FAILED: row(500, 1, false, 'Run the function that redacts on a text by itself: nothing was recorded.'),
  E_NOT_OBSERVED: row(409, 1, false, 'Turn on the recording of observations with `stemma config set H observe=true`.', 'Turn on the recording of observations with the step config: {observe: true}.'),
  E_STREAM_GONE: row(409, 1, true, 'Load the page again: the stream no longer reaches back that far.'),
  E_STREAM_SLOW: row(503, 1, true, 'Read the stream faster, or resume it after the last id.'),
  E_BUSY: row(503, 74, true, 'Try again in a moment.'),
  E_ADDRESS_IN_USE: row(500, 74, false, 'Choose another port with --port.', 'Ask the operator to choose another port.'),
  E_INTERNAL: row(500, 1, false, 'Please report this: it is a fault of Stemma.'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
