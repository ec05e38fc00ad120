import { metricKeys } from "../../src/codecs/metric-keys.ts";
import type { DeviceCapabilityChoice } from "../api/types.ts";
import { eventKind } from "./alarms.ts";
import { wordFor } from "./command-words.ts";
import { defineTexts } from "./define.ts";
import { metricName } from "./metrics.ts";

const own = defineTexts({
  en: {
    text: "Text messages",
    voice: "Voice messages",
    tts: "Spoken texts",
    ecg: "ECG recordings",
    ecg_recorded: "ECG recorded",
    power_off_notice: "Powered off",
  },
  it: {
    text: "Messaggi di testo",
    voice: "Messaggi vocali",
    tts: "Testi letti ad alta voce",
    ecg: "Registrazioni ECG",
    ecg_recorded: "ECG registrato",
    power_off_notice: "Spento",
  },
  de: {
    text: "Textnachrichten",
    voice: "Sprachnachrichten",
    tts: "Vorgelesene Texte",
    ecg: "EKG-Aufnahmen",
    ecg_recorded: "EKG aufgenommen",
    power_off_notice: "Ausgeschaltet",
  },
  fr: {
    text: "Messages écrits",
    voice: "Messages vocaux",
    tts: "Textes lus à voix haute",
    ecg: "Enregistrements ECG",
    ecg_recorded: "ECG enregistré",
    power_off_notice: "Éteint",
  },
  es: {
    text: "Mensajes de texto",
    voice: "Mensajes de voz",
    tts: "Textos leídos en voz alta",
    ecg: "Registros de ECG",
    ecg_recorded: "ECG registrado",
    power_off_notice: "Apagado",
  },
});
const ownCodes = ["text", "voice", "tts", "ecg", "ecg_recorded", "power_off_notice"] as const;

const eventNames = ["sos", "fall", "low_battery", "power_on", "not_worn", "inactivity", "overspeed", "tamper"] as const;

/** What people call a capability; one that the catalog has gained since is shown as the catalog calls it. */
export function capabilityName({ code, kind, label }: Pick<DeviceCapabilityChoice, "code" | "kind" | "label">): string {
  const ownCode = ownCodes.find((one) => one === code);
  if (kind !== "command" && ownCode) return own(ownCode);
  if (kind === "command") return wordFor(code, label);
  const metric = metricKeys.find((one) => one === code);
  if (kind === "telemetry" && metric) return metricName(metric);
  // The catalog names its events as the events of the API, but for those above.
  const event = eventNames.find((one) => one === code);
  return kind === "event" && event ? eventKind(event) : label;
}
