import { Refusal } from "../api/client.ts";

/** Whether what the address names does not exist, or is not for this reader. */
export const isMissing = (error: unknown): boolean => error instanceof Refusal && error.status === 404;
