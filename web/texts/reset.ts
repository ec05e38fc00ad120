import { activateTexts } from "./activate.ts";
import { defineTexts } from "./define.ts";

const own = defineTexts({
  en: {
    title: "Choose a new password",
    intro: "It replaces the old one and ends every session of your account.",
    invalid: "It may have been used already. Ask for a new link where you sign in.",
    expiredTitle: "This link has been used or has expired",
    expired: "Links are valid for one hour, once. Ask for a new one where you sign in.",
  },
  it: {
    title: "Scelga una nuova password",
    intro: "Sostituisce quella attuale e chiude tutte le sessioni del Suo account.",
    invalid: "Forse è già stato usato. Chieda un nuovo link dove effettua l’accesso.",
    expiredTitle: "Questo link è scaduto o già usato",
    expired: "I link valgono un’ora e una volta sola. Ne chieda uno nuovo dove effettua l’accesso.",
  },
  de: {
    title: "Neues Passwort wählen",
    intro: "Es ersetzt das bisherige und beendet alle Sitzungen Ihres Kontos.",
    invalid: "Vielleicht wurde er schon benutzt. Fordern Sie bei der Anmeldung einen neuen Link an.",
    expiredTitle: "Dieser Link ist abgelaufen oder schon benutzt",
    expired: "Links gelten eine Stunde und einmal. Fordern Sie bei der Anmeldung einen neuen an.",
  },
  fr: {
    title: "Choisir un nouveau mot de passe",
    intro: "Il remplace l’ancien et met fin à toutes les sessions de votre compte.",
    invalid: "Il a peut-être déjà été utilisé. Demandez un nouveau lien sur la page de connexion.",
    expiredTitle: "Ce lien a expiré ou a déjà été utilisé",
    expired: "Les liens sont valables une heure, une seule fois. Demandez-en un nouveau sur la page de connexion.",
  },
  es: {
    title: "Elija una nueva contraseña",
    intro: "Sustituye a la anterior y cierra todas las sesiones de su cuenta.",
    invalid: "Quizá ya se ha utilizado. Pida un nuevo enlace donde inicia sesión.",
    expiredTitle: "Este enlace ha caducado o ya se ha utilizado",
    expired: "Los enlaces son válidos durante una hora y una sola vez. Pida uno nuevo donde inicia sesión.",
  },
});

const ownKeys = ["title", "intro", "invalid", "expiredTitle", "expired"] as const;

/** The page behind the mail for those who forgot their password. */
export const resetTexts: typeof activateTexts = (key, values) => {
  const ownKey = ownKeys.find((one) => one === key);
  return ownKey ? own(ownKey, values) : activateTexts(key, values);
};
