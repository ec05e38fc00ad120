import { open, readFile, rename } from "node:fs/promises";

export interface FileCursor {
  loadCursor(): Promise<string | undefined>;
  saveCursor(cursor: string): Promise<void>;
}

/** Keeps the cursor of follow() in a file. It is replaced whole, so a crash leaves the old cursor or the new one. */
export function fileCursor(path: string): FileCursor {
  return {
    loadCursor: async () => {
      try {
        return (await readFile(path, "utf8")).trim() || undefined;
      } catch (error) {
        if ((error as { code?: unknown }).code === "ENOENT") return undefined;
        throw error;
      }
    },
    saveCursor: async (cursor) => {
      const file = await open(`${path}.new`, "w");
      try {
        await file.writeFile(`${cursor}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
  };
}
