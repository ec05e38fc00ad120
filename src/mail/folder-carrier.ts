import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { MailCarrier } from "./mail-carrier.ts";

/**
 * Without an SMTP server: each mail becomes one file `<id>.eml`, whole or not at all, readable by the owner only. Nothing on its
 * way needs seven bits, so the plain text is written as it is, and a link can be copied from the file.
 */
export function makeFolderCarrier(folder: string): MailCarrier {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  return {
    deliver: async (message, { id, attempt }) => {
      const { message: bytes } = await composer.sendMail({ ...message, text: { raw: plainPart(message.text) } });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // An attempt has a draft of its own, so that two senders cannot write into one file.
      const draftOf = (number: number): string => join(folder, `.${id}.${number}.tmp`);
      const draft = await open(draftOf(attempt), "w", 0o600);
      try {
        await draft.writeFile(bytes as Buffer);
        await draft.sync();
      } finally {
        await draft.close();
      }
      await rename(draftOf(attempt), join(folder, `${id}.eml`));
      await syncFolder(folder);
      // What an attempt left behind that was killed.
      for (let earlier = 1; earlier < attempt; earlier++) await rm(draftOf(earlier), { force: true });
    },
    close: () => composer.close(),
  };
}

const plainPart = (text: unknown): string =>
  `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${String(text)}`;

async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
