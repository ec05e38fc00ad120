/** Something a person can put right: the message is one line that says what to do next. */
export class EmbeddedServerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbeddedServerError";
  }
}

/** The server ended instead of starting. */
export class BootFailure extends EmbeddedServerError {
  /** What it wrote into its log. */
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.name = "BootFailure";
    this.output = output;
  }
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Says what a refusal of the file system means for the data folder; every other error comes back as it is. */
export function explainFileError(error: unknown, dataDir: string): unknown {
  if (error instanceof EmbeddedServerError) return error;
  const place = error instanceof Error && "path" in error ? String(error.path) : dataDir;
  switch (errorCode(error)) {
    case "EACCES":
    case "EPERM":
      return new EmbeddedServerError(
        `no permission for ${place}; make it writable for this user or choose another --data-dir`,
        { cause: error },
      );
    case "EROFS":
      return new EmbeddedServerError(`${place} is on a read-only file system; choose another --data-dir`, {
        cause: error,
      });
    case "ENOSPC":
    case "EDQUOT":
      return new EmbeddedServerError(`the disk of ${dataDir} is full; free some space and start again`, {
        cause: error,
      });
    case "ENOTDIR":
    case "EEXIST":
      return new EmbeddedServerError(`${place} is not a folder; move it away or choose another --data-dir`, {
        cause: error,
      });
    case "ENOENT":
      if ((error as NodeJS.ErrnoException).syscall !== "mkdir") return error;
      return new EmbeddedServerError(`${place} cannot be made there; choose another --data-dir`, { cause: error });
    default:
      return error;
  }
}
