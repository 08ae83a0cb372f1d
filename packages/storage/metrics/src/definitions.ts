/** One metric. docs/metrics.md is generated from the table below. */
export type Definition = {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** One sentence for people; it names the unit if the name of the metric does not. */
  readonly help: string;
  readonly labels: readonly string[];
  /** The upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
};

/** Every metric of every service, except those that prom-client adds for each Node.js process. */
export const METRICS = {
  stemma_service_info: {
    kind: 'gauge',
    help: 'Always 1; the labels name the service and its version.',
    labels: ['service', 'version'],
  },

  stemma_commands_total: {
    kind: 'counter',
    help: 'Commands by outcome: accepted, repeated (it was in the log already), refused, conflict, unknown (it may be in the log), failed.',
    labels: ['outcome'],
  },
  stemma_frames_appended_total: {
    kind: 'counter',
    help: 'Frames of this process that the log has accepted.',
    labels: [],
  },
  stemma_events_appended_total: {
    kind: 'counter',
    help: 'Events in the frames of stemma_frames_appended_total.',
    labels: [],
  },
  stemma_conflicts_total: {
    kind: 'counter',
    help: 'Frames of this process that lost to another writer’s frame; their commands are decided again.',
    labels: [],
  },

  stemma_records_accepted_total: {
    kind: 'counter',
    help: 'Records of the log that were accepted, up to the offset of the rows.',
    labels: ['partition', 'read_model'],
  },
  stemma_records_stale_total: {
    kind: 'counter',
    help: 'Records of the log that were ignored, by reason (repeated, overtaken, unfit, misplaced, after-damage, foreign), up to the offset of the rows.',
    labels: ['partition', 'read_model', 'reason'],
  },
  stemma_records_damaged: {
    kind: 'gauge',
    help: 'Damaged records in the log, up to the offset of the rows.',
    labels: ['partition', 'read_model'],
  },
  stemma_partition_closed: {
    kind: 'gauge',
    help: '1 while a damaged record of an unknown history closes the partition, until it is acknowledged; else 0.',
    labels: ['partition', 'read_model'],
  },
  stemma_lag_records: {
    kind: 'gauge',
    help: 'Offsets between the rows and the end of the log.',
    labels: ['partition', 'read_model'],
  },
  stemma_rows_offset: {
    kind: 'gauge',
    help: 'The offset that the rows have reached.',
    labels: ['partition', 'read_model'],
  },
  stemma_rows_rebuilt_total: {
    kind: 'counter',
    help: 'Times that this process found rows damaged, threw them away and built them again: check the disk.',
    labels: [],
  },
  stemma_frames_folded_total: {
    kind: 'counter',
    help: 'Frames that this process has folded into rows.',
    labels: ['read_model'],
  },
  stemma_events_folded_total: {
    kind: 'counter',
    help: 'Events that this process has folded into rows.',
    labels: ['read_model'],
  },
  stemma_replay_events_per_second: {
    kind: 'gauge',
    help: 'Events folded a second by this process, over the last 30 seconds.',
    labels: ['read_model'],
  },
  stemma_last_commit_timestamp_seconds: {
    kind: 'gauge',
    help: 'When this process last committed rows, in seconds since 1970; absent before the first time.',
    labels: ['read_model'],
  },

  stemma_events_relayed_total: {
    kind: 'counter',
    help: 'Accepted events that this process has published as records of their own.',
    labels: [],
  },
  stemma_rounds_total: {
    kind: 'counter',
    help: 'Rounds of pools that this runner has made.',
    labels: [],
  },
  stemma_runs_active: {
    kind: 'gauge',
    help: 'Runs of pools whose rounds this runner makes now.',
    labels: [],
  },
  stemma_relay_lag_records: {
    kind: 'gauge',
    help: 'Offsets between the last published record and the end of the log.',
    labels: ['partition'],
  },
  stemma_relay_held_histories: {
    kind: 'gauge',
    help: 'Histories that the relay holds back because they are damaged or defective.',
    labels: [],
  },

  stemma_http_requests_total: {
    kind: 'counter',
    help: 'Requests answered, by route and status; the route `none` means that no route matched.',
    labels: ['method', 'route', 'status'],
  },
  stemma_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds until the answer began.',
    labels: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  stemma_http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests received whose answer has not begun.',
    labels: [],
  },
  stemma_http_refused_total: {
    kind: 'counter',
    help: 'Requests refused at the door, which stemma_http_requests_total has not: by the code of the error, or by the status where the request could not be read.',
    labels: ['code'],
  },
  stemma_proxied_calls_total: {
    kind: 'counter',
    help: 'Calls of models that went through the proxy: recorded; dropped, since too many waited; or refused by the log.',
    labels: ['outcome'],
  },
  stemma_proxied_calls_waiting: {
    kind: 'gauge',
    help: 'Calls, or ends of calls, that went through the proxy and are not recorded yet; they are in the journal.',
    labels: [],
  },
  stemma_proxied_bytes_waiting: {
    kind: 'gauge',
    help: 'Bytes of the journal of calls that are not recorded yet, or whose end is still to come.',
    labels: [],
  },
  stemma_proxied_lag_seconds: {
    kind: 'gauge',
    help: 'How long the oldest of stemma_proxied_calls_waiting has been waiting; 0 if there is none.',
    labels: [],
  },
  stemma_http_forwarded_total: {
    kind: 'counter',
    help: 'Commands sent on to the gateway that owns their history: answered, or failed (it gave no answer, and the command was decided here).',
    labels: ['outcome'],
  },
  stemma_http_connections_dropped_total: {
    kind: 'counter',
    help: 'Connections that the server closed: too-many (the one idle longest goes for a new one), stalled (the client took nothing).',
    labels: ['reason'],
  },
  stemma_streams_dropped_total: {
    kind: 'counter',
    help: 'Live streams that the server ended: turn (all slots are taken and another client wants one), slow (the client took nothing).',
    labels: ['reason'],
  },
  stemma_questions_total: {
    kind: 'counter',
    help: 'Questions given to processes of their own, by outcome: answered, failed (refused for what it asks), timeout, busy (too many waited), cancelled (the client went), lost (its process ended).',
    labels: ['outcome'],
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof METRICS;
export type NameOf<Kind extends Definition['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]['labels'][number], string | number>
>;
