import type { KindTexts, MailLanguage, MailNames } from "./mail-texts.ts";

/** Mails to administrators about a webhook that has failed for long, and about one that works again. */
interface WebhookTexts {
  webhook_failing: KindTexts;
  webhook_recovered: KindTexts;
}

/** The integration with the host that it is sent to. */
const named = ({ integration = "–", host }: MailNames, open: string, close: string): string =>
  `${open}${integration}${close}${host === undefined ? "" : ` (${host})`}`;

const subjectOf =
  (text: string) =>
  (organization: string, { integration = "–" }: MailNames): string =>
    `${text} – ${integration} – ${organization}`;

const reasonOf = (label: string, { reason }: MailNames): string => (reason === undefined ? "" : ` ${label}${reason}.`);

export const webhookTexts: Readonly<Record<MailLanguage, WebhookTexts>> = {
  en: {
    webhook_failing: {
      subject: subjectOf("Webhook failing"),
      paragraphs: (names) => [
        `The webhook of the integration ${named(names, "“", "”")} has accepted no event since ${names.time}.${reasonOf("Last error: ", names)}`,
        "Events that fail every attempt are kept, and you can send them again in the console once the webhook works. You will get one more e-mail when it does.",
      ],
      action: "Open the integration",
    },
    webhook_recovered: {
      subject: subjectOf("Webhook works again"),
      paragraphs: (names) => [
        `The webhook of the integration ${named(names, "“", "”")} accepts events again.`,
        "Please look in the console for events that were given up meanwhile, and send them again if they are needed.",
      ],
      action: "Open the integration",
    },
  },
  it: {
    webhook_failing: {
      subject: subjectOf("Webhook non funzionante"),
      paragraphs: (names) => [
        `Il webhook dell’integrazione ${named(names, "«", "»")} non accetta eventi da questo momento: ${names.time}.${reasonOf("Ultimo errore: ", names)}`,
        "Gli eventi i cui tentativi falliscono tutti vengono conservati: potrà inviarli di nuovo dalla console quando il webhook funzionerà. In quel momento riceverà un’altra e-mail.",
      ],
      action: "Apri l’integrazione",
    },
    webhook_recovered: {
      subject: subjectOf("Webhook di nuovo funzionante"),
      paragraphs: (names) => [
        `Il webhook dell’integrazione ${named(names, "«", "»")} accetta di nuovo gli eventi.`,
        "Controlli nella console se nel frattempo sono stati abbandonati degli eventi e, se servono, li invii di nuovo.",
      ],
      action: "Apri l’integrazione",
    },
  },
  de: {
    webhook_failing: {
      subject: subjectOf("Webhook gestört"),
      paragraphs: (names) => [
        `Der Webhook der Integration ${named(names, "„", "“")} nimmt seit ${names.time} keine Ereignisse an.${reasonOf("Letzter Fehler: ", names)}`,
        "Ereignisse, deren Versuche alle scheitern, werden aufbewahrt. Sie können sie in der Konsole erneut zustellen, sobald der Webhook funktioniert. Dann erhalten Sie noch eine E-Mail.",
      ],
      action: "Integration öffnen",
    },
    webhook_recovered: {
      subject: subjectOf("Webhook funktioniert wieder"),
      paragraphs: (names) => [
        `Der Webhook der Integration ${named(names, "„", "“")} nimmt wieder Ereignisse an.`,
        "Bitte sehen Sie in der Konsole nach, ob inzwischen Ereignisse aufgegeben wurden, und stellen Sie diese bei Bedarf erneut zu.",
      ],
      action: "Integration öffnen",
    },
  },
  fr: {
    webhook_failing: {
      subject: subjectOf("Webhook en échec"),
      paragraphs: (names) => [
        `Le webhook de l’intégration ${named(names, "«\u00a0", "\u00a0»")} n’accepte plus d’événements. Début\u00a0: ${names.time}.${reasonOf("Dernière erreur\u00a0: ", names)}`,
        "Les événements dont toutes les tentatives échouent sont conservés\u00a0: vous pourrez les envoyer de nouveau depuis la console dès que le webhook fonctionnera. Vous recevrez alors un autre e-mail.",
      ],
      action: "Ouvrir l’intégration",
    },
    webhook_recovered: {
      subject: subjectOf("Webhook rétabli"),
      paragraphs: (names) => [
        `Le webhook de l’intégration ${named(names, "«\u00a0", "\u00a0»")} accepte de nouveau les événements.`,
        "Veuillez vérifier dans la console si des événements ont été abandonnés entre-temps, et les envoyer de nouveau si nécessaire.",
      ],
      action: "Ouvrir l’intégration",
    },
  },
  es: {
    webhook_failing: {
      subject: subjectOf("Webhook con fallos"),
      paragraphs: (names) => [
        `El webhook de la integración ${named(names, "«", "»")} no acepta eventos desde este momento: ${names.time}.${reasonOf("Último error: ", names)}`,
        "Los eventos cuyos intentos fallan todos se conservan: podrá enviarlos de nuevo desde la consola cuando el webhook funcione. Entonces recibirá otro correo.",
      ],
      action: "Abrir la integración",
    },
    webhook_recovered: {
      subject: subjectOf("El webhook vuelve a funcionar"),
      paragraphs: (names) => [
        `El webhook de la integración ${named(names, "«", "»")} vuelve a aceptar eventos.`,
        "Compruebe en la consola si mientras tanto se abandonaron eventos y, si hacen falta, envíelos de nuevo.",
      ],
      action: "Abrir la integración",
    },
  },
};
