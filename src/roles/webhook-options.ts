import { readFileSync } from "node:fs";
import { type Config, ConfigError } from "../config.ts";
import type { WebhookPushOptions } from "../outbound/webhook-push.ts";

/** The settings of webhook push, for the worker and for the command that sends a test. */
export function webhookOptions(
  config: Config,
): Pick<WebhookPushOptions, "waitsMs" | "timeoutMs" | "allowCidrs" | "extraCa"> {
  const { webhookCaFile, webhookBackoffSeconds, webhookTimeoutMs, webhookAllowCidrs } = config;
  return {
    waitsMs: webhookBackoffSeconds.map((seconds) => Math.ceil(seconds * 1000)),
    timeoutMs: webhookTimeoutMs,
    allowCidrs: webhookAllowCidrs,
    extraCa: webhookCaFile === undefined ? undefined : readCa(webhookCaFile),
  };
}

function readCa(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  } catch (error) {
    throw new ConfigError("VIGIL_WEBHOOK_CA_FILE", `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  throw new ConfigError("VIGIL_WEBHOOK_CA_FILE", "must be a file with certificates in PEM form");
}
