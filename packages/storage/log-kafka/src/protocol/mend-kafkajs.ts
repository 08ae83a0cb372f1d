import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

let mended = false;

/** Patches faults of kafkajs below its public API, once for each process. README.md names the test of each fault. */
export const mendKafkajs = (): void => {
  if (mended) return;
  mended = true;
  stopIdleTimers();
  beginAnswersAnew();
};

/**
 * If a connection of kafkajs 2.2.4 breaks in the middle of an answer, kafkajs keeps the first part, connects again, reads the
 * next answer as the rest, and throws where nobody catches: the process ends. With this patch a connection starts with an
 * empty buffer, and an answer that cannot be read closes it. Remove it when kafkajs is replaced.
 */
const beginAnswersAnew = (): void => {
  const connection = Connection.prototype;
  const { connect, processData } = connection;
  connection.connect = function () {
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: 4 });
    return connect.call(this);
  };
  connection.processData = function (data) {
    try {
      processData.call(this, data);
    } catch (error) {
      this.rejectRequests(error);
      this.disconnect().catch(() => undefined);
    }
  };
};

/**
 * kafkajs 2.2.4 checks every millisecond, for as long as a connection lives, whether it may send a waiting request, even if
 * none waits. That takes 8 % of a core and makes Node.js print a TimeoutNegativeWarning. With this patch it checks only
 * while a request waits. Remove it when kafkajs is replaced.
 */
const stopIdleTimers = (): void => {
  const queue: { pending: readonly unknown[]; scheduleCheckPendingRequests: (this: typeof queue) => void } =
    RequestQueue.prototype;
  const look = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) look.call(this);
  };
};
