import { defineTexts } from "./define.ts";

export const organizationTexts = defineTexts({
  en: {
    slug: "Short name",
    zone: "Time zone",
    role: "Your role",
    hint: "The operator of the service changes these settings.",
  },
  it: {
    slug: "Nome breve",
    zone: "Fuso orario",
    role: "Il suo ruolo",
    hint: "Queste impostazioni sono modificate dal gestore del servizio.",
  },
  de: {
    slug: "Kurzname",
    zone: "Zeitzone",
    role: "Ihre Rolle",
    hint: "Diese Einstellungen ändert der Betreiber des Dienstes.",
  },
  fr: {
    slug: "Nom court",
    zone: "Fuseau horaire",
    role: "Votre rôle",
    hint: "L’exploitant du service modifie ces réglages.",
  },
  es: {
    slug: "Nombre corto",
    zone: "Zona horaria",
    role: "Su rol",
    hint: "El operador del servicio cambia estos ajustes.",
  },
});
