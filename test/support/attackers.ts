import { connect, type Socket } from "node:net";

/** Sockets of those who mean no good, from any address of 127.0.0.0/8. */
export interface Attack {
  /** Connections that are still open. */
  readonly openCount: number;
  /** Connections that were ever opened. */
  readonly opened: number;
  close(): void;
}

export function openSocket(port: number, from: string): Socket {
  const socket = connect({ host: "127.0.0.1", port, localAddress: from, noDelay: true });
  socket.on("error", () => undefined);
  return socket;
}

class Sockets implements Attack {
  readonly sockets = new Set<Socket>();
  readonly timers: NodeJS.Timeout[] = [];
  opened = 0;
  isClosed = false;

  get openCount(): number {
    return this.sockets.size;
  }

  open(port: number, from: string, onClose: () => void = () => undefined): Socket {
    const socket = openSocket(port, from);
    this.opened++;
    this.sockets.add(socket);
    socket.on("close", () => {
      this.sockets.delete(socket);
      if (!this.isClosed) onClose();
    });
    return socket;
  }

  close(): void {
    this.isClosed = true;
    for (const timer of this.timers) clearInterval(timer);
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Connections that begin a frame and never end it, a byte at a time. */
export function dripBytes(port: number, froms: readonly string[], count: number, everyMs: number): Attack {
  const attack = new Sockets();
  const open = (index: number): void => {
    const socket = attack.open(port, froms[index % froms.length] as string);
    socket.on("connect", () => socket.write("[3G*8800000015*"));
    socket.resume();
  };
  for (let index = 0; index < count; index++) open(index);
  attack.timers.push(
    setInterval(() => {
      for (const socket of attack.sockets) if (socket.writable && !socket.connecting) socket.write("0");
      for (let missing = count - attack.openCount; missing > 0; missing--) open(attack.opened);
    }, everyMs),
  );
  return attack;
}

/** One IMEI after the other, each on a connection of its own, as fast as the service lets it. */
export function guessImeis(port: number, from: string, parallel: number, start: number): Attack & { answered: number } {
  const attack = Object.assign(new Sockets(), { answered: 0 });
  let next = start;
  const guess = (): void => {
    const socket = attack.open(port, from, () => {
      attack.answered++;
      setTimeout(guess, 10);
    });
    socket.on("connect", () => socket.write(`IWAP00${next++}#`));
    socket.resume();
  };
  for (let index = 0; index < parallel; index++) guess();
  return attack;
}

/** A registered watch that sends recordings without an end, and never waits for an answer. */
export function floodVoice(port: number, from: string, imei: string, partBytes = 4000): Attack {
  const attack = new Sockets();
  let sequence = 0;
  const fill = (socket: Socket): void => {
    while (socket.writable) {
      sequence++;
      const head = `IWAP07,20260301${String(sequence % 1_000_000).padStart(6, "0")},2,1,${partBytes},`;
      if (!socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(partBytes, 0x41), Buffer.from("#")]))) return;
    }
  };
  const open = (): void => {
    const socket = attack.open(port, from, () => setTimeout(open, 100));
    socket.on("connect", () => {
      socket.write(`IWAP00${imei}#`);
      fill(socket);
    });
    socket.on("drain", () => fill(socket));
    socket.resume();
  };
  open();
  return attack;
}
