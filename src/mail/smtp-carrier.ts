import { createTransport } from "nodemailer";
import type { MailCarrier } from "./mail-carrier.ts";

/**
 * Mails carry links that open accounts, so they leave the machine encrypted or not at all. `?requireTLS=false` in the address
 * allows a server without TLS.
 */
export function requiresTls(url: string): boolean {
  const { hostname, searchParams } = new URL(url.replace(/^smtps?:/, "http:"));
  if (searchParams.get("requireTLS") === "false") return false;
  return !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Sends through an SMTP server over a few kept connections. A delivery that is not over within the limit ends there, also when
 * the server trickles its answers, which no socket timeout notices: the pool is dropped with all its connections.
 */
export function makeSmtpCarrier(options: { url: string; connections: number; limitMs: number }): MailCarrier {
  const { url, connections, limitMs } = options;
  const open = () =>
    createTransport({
      requireTLS: requiresTls(url),
      url,
      pool: true,
      maxConnections: connections,
      // Only for a kept connection that the server closed before it got the message; all other retries are those of the outbox.
      maxRequeues: 1,
      idleTimeout: 30_000,
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 30_000,
      dnsTimeout: 10_000,
    });
  let pool = open();

  return {
    deliver: (message) => {
      const used = pool;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          if (pool === used) pool = open();
          used.close({ force: true });
          reject(new Error("the SMTP server took too long"));
        }, limitMs);
        used
          .sendMail(message)
          .then(() => resolve(), reject)
          .finally(() => clearTimeout(timer));
      });
    },
    close: () => pool.close({ force: true }),
  };
}
