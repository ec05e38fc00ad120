/** What a connection needs of its socket: a TCP socket has it, and a UDP peer plays it. */
export interface ConnectionSocket {
  /** Each chunk is a datagram: none of them completes another. */
  readonly isDatagram?: true;
  /** Bytes that the operating system has not taken yet. */
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  write(bytes: Buffer, onWritten?: (error?: Error | null) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  /** Closes when everything is written. */
  destroySoon(): void;
  destroy(): unknown;
}

/** True when the operating system has taken the last of the frames. */
export function writeAll(socket: ConnectionSocket, frames: readonly Buffer[]): Promise<boolean> {
  return new Promise((resolve) => {
    for (const [index, frame] of frames.entries()) {
      if (index < frames.length - 1) socket.write(frame);
      else socket.write(frame, (error) => resolve(!error));
    }
    if (frames.length === 0) resolve(true);
  });
}
