export { parseKafkaAddress, type KafkaAddress } from './address.ts';
export { openKafkaLog, type KafkaLog, type KafkaLogOptions } from './kafka-log.ts';
