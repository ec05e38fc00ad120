import type { MailLanguage } from "./mail-texts.ts";

/** Alarms by their event type, as a mail names them. */
export type AlarmKind = keyof typeof english;

const english = {
  sos: "SOS",
  fall: "Fall",
  low_battery: "Low battery",
  geofence_exit: "Left a geofence",
  not_worn: "Not worn",
  threshold_breach: "Value out of range",
  ecg_abnormal: "Abnormal ECG",
  inactivity: "No movement",
  overspeed: "Too fast",
  tamper: "Device tampered with",
  sim_changed: "SIM changed",
  custom: "Device alarm",
};

const words: Readonly<Record<MailLanguage, Readonly<Record<AlarmKind, string>>>> = {
  en: english,
  it: {
    sos: "SOS",
    fall: "Caduta",
    low_battery: "Batteria scarica",
    geofence_exit: "Uscita da un’area",
    not_worn: "Non indossato",
    threshold_breach: "Valore fuori soglia",
    ecg_abnormal: "ECG anomalo",
    inactivity: "Nessun movimento",
    overspeed: "Velocità eccessiva",
    tamper: "Manomissione del dispositivo",
    sim_changed: "SIM cambiata",
    custom: "Allarme del dispositivo",
  },
  de: {
    sos: "SOS",
    fall: "Sturz",
    low_battery: "Akku schwach",
    geofence_exit: "Bereich verlassen",
    not_worn: "Nicht getragen",
    threshold_breach: "Wert außerhalb der Grenzen",
    ecg_abnormal: "Auffälliges EKG",
    inactivity: "Keine Bewegung",
    overspeed: "Zu schnell",
    tamper: "Manipulation am Gerät",
    sim_changed: "SIM gewechselt",
    custom: "Alarm des Geräts",
  },
  fr: {
    sos: "SOS",
    fall: "Chute",
    low_battery: "Batterie faible",
    geofence_exit: "Sortie d’une zone",
    not_worn: "Non porté",
    threshold_breach: "Valeur hors limites",
    ecg_abnormal: "ECG anormal",
    inactivity: "Aucun mouvement",
    overspeed: "Vitesse excessive",
    tamper: "Appareil manipulé",
    sim_changed: "Carte SIM changée",
    custom: "Alarme de l’appareil",
  },
  es: {
    sos: "SOS",
    fall: "Caída",
    low_battery: "Batería baja",
    geofence_exit: "Salida de una zona",
    not_worn: "No lo lleva puesto",
    threshold_breach: "Valor fuera de rango",
    ecg_abnormal: "ECG anómalo",
    inactivity: "Sin movimiento",
    overspeed: "Velocidad excesiva",
    tamper: "Manipulación del dispositivo",
    sim_changed: "SIM cambiada",
    custom: "Alarma del dispositivo",
  },
};

const isKnown = (kind: string): kind is AlarmKind => Object.hasOwn(english, kind);

/** A kind without a name of its own is an alarm of the device. */
export const alarmWord = (language: MailLanguage, kind: string | undefined): string =>
  words[language][kind !== undefined && isKnown(kind) ? kind : "custom"];
