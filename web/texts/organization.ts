import { defineTexts } from "./define.ts";

export const organizationTexts = defineTexts({
  en: {
    slug: "Short name",
    zone: "Time zone",
    language: "Language",
    features: "Features",
    noFeatures: "None beyond the standard ones",
    role: "Your role",
    hint: "The operator of the service changes these settings.",
  },
  it: {
    slug: "Nome breve",
    zone: "Fuso orario",
    language: "Lingua",
    features: "Funzioni",
    noFeatures: "Nessuna oltre a quelle standard",
    role: "Il suo ruolo",
    hint: "Queste impostazioni sono modificate dal gestore del servizio.",
  },
  de: {
    slug: "Kurzname",
    zone: "Zeitzone",
    language: "Sprache",
    features: "Funktionen",
    noFeatures: "Keine über den Standard hinaus",
    role: "Ihre Rolle",
    hint: "Diese Einstellungen ändert der Betreiber des Dienstes.",
  },
  fr: {
    slug: "Nom court",
    zone: "Fuseau horaire",
    language: "Langue",
    features: "Fonctions",
    noFeatures: "Aucune au-delà du standard",
    role: "Votre rôle",
    hint: "L’exploitant du service modifie ces réglages.",
  },
  es: {
    slug: "Nombre corto",
    zone: "Zona horaria",
    language: "Idioma",
    features: "Funciones",
    noFeatures: "Ninguna aparte de las estándar",
    role: "Su rol",
    hint: "El operador del servicio cambia estos ajustes.",
  },
});
