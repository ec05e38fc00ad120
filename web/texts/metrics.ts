import type { MetricKey } from "../../src/codecs/metric-keys.ts";
import { metrics } from "../../src/resources/telemetry/metric-catalog.ts";
import { defineTexts } from "./define.ts";

/** The names of what devices measure. */
export const metricName = defineTexts<MetricKey>({
  en: {
    bat: "Battery",
    hr: "Heart rate",
    sbp: "Systolic blood pressure",
    dbp: "Diastolic blood pressure",
    spo2: "Blood oxygen",
    temp: "Temperature",
    glucose: "Glucose",
    steps: "Steps",
    gsm_signal: "Mobile signal",
    satellites: "Satellites",
  },
  it: {
    bat: "Batteria",
    hr: "Frequenza cardiaca",
    sbp: "Pressione sistolica",
    dbp: "Pressione diastolica",
    spo2: "Ossigeno nel sangue",
    temp: "Temperatura",
    glucose: "Glicemia",
    steps: "Passi",
    gsm_signal: "Segnale mobile",
    satellites: "Satelliti",
  },
  de: {
    bat: "Akku",
    hr: "Herzfrequenz",
    sbp: "Systolischer Blutdruck",
    dbp: "Diastolischer Blutdruck",
    spo2: "Blutsauerstoff",
    temp: "Temperatur",
    glucose: "Blutzucker",
    steps: "Schritte",
    gsm_signal: "Mobilfunksignal",
    satellites: "Satelliten",
  },
  fr: {
    bat: "Batterie",
    hr: "Fréquence cardiaque",
    sbp: "Pression systolique",
    dbp: "Pression diastolique",
    spo2: "Oxygène sanguin",
    temp: "Température",
    glucose: "Glycémie",
    steps: "Pas",
    gsm_signal: "Signal mobile",
    satellites: "Satellites",
  },
  es: {
    bat: "Batería",
    hr: "Frecuencia cardíaca",
    sbp: "Presión sistólica",
    dbp: "Presión diastólica",
    spo2: "Oxígeno en sangre",
    temp: "Temperatura",
    glucose: "Glucosa",
    steps: "Pasos",
    gsm_signal: "Señal móvil",
    satellites: "Satélites",
  },
});

const shownUnits: Readonly<Record<string, string>> = { Cel: "°C", steps: "", level: "", count: "" };

/** Empty for what is counted. */
export function metricUnit(key: MetricKey): string {
  const { unit } = metrics[key];
  return shownUnits[unit] ?? unit;
}

/** The unit with the name, for labels of forms and axes. */
export const metricLabel = (key: MetricKey): string =>
  metricUnit(key) === "" ? metricName(key) : `${metricName(key)} (${metricUnit(key)})`;
