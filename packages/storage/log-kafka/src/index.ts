export {
  KAFKA_SETTINGS,
  readKafkaSecurity,
  type KafkaSecurity,
  type KafkaSetting,
} from './security/settings.ts';
export { parseKafkaAddress, type KafkaAddress } from './address.ts';
export { openKafkaLog, type KafkaLog, type KafkaLogOptions } from './kafka-log.ts';
export {
  openPublisher,
  type OutRecord,
  type Publisher,
  type PublisherOptions,
  type SentOffsets,
} from './publisher.ts';
export type { Message } from './protocol/encode-batch.ts';
