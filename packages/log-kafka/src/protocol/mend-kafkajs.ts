import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { registerZstd } from './zstd.ts';

let mended = false;

/** Mends what kafkajs does wrong below its public API, once for the process; README.md says what pins each fault. */
export const mendKafkajs = (): void => {
  if (mended) return;
  mended = true;
  registerZstd();
  stopIdleTimers();
  beginAnswersAnew();
};

/**
 * A connection of kafkajs 2.2.4 that broke in the middle of an answer keeps what it had of it when it is made again, reads
 * the next answer as the rest, and throws where nobody catches: the process ends. Here it begins with nothing, and what
 * cannot be read closes it. May go with kafkajs.
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
 * kafkajs 2.2.4 looks every millisecond, for as long as a connection lives, whether one of the requests that wait may be
 * sent, even when none waits: 8 % of a core, and a TimeoutNegativeWarning of Node.js. Here it looks when one waits. May go
 * with kafkajs.
 */
const stopIdleTimers = (): void => {
  const queue: { pending: readonly unknown[]; scheduleCheckPendingRequests: (this: typeof queue) => void } =
    RequestQueue.prototype;
  const look = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) look.call(this);
  };
};
