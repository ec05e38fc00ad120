import { webhookTexts } from "./webhook-texts.ts";

/** The wording of all mails, by language. Values are put in as plain text; whoever makes HTML of it escapes the result. */
export const mailKinds = [
  "share_invitation",
  "member_invitation",
  "portal_activation",
  "password_reset",
  "alarm",
  "webhook_failing",
  "webhook_recovered",
] as const;
export type MailKind = (typeof mailKinds)[number];

export const mailLanguages = ["en", "it", "de", "fr", "es"] as const;
export type MailLanguage = (typeof mailLanguages)[number];

export interface MailNames {
  organization: string;
  device: string | undefined;
  inviter: string | undefined;
  /** Of a mail about an alarm: what it was, and when. */
  alarm: string;
  time: string | undefined;
  /** No further alarm is mailed within the hour. */
  isLast: boolean;
  /** Of a mail about a webhook: its integration, where it is sent, and why it fails. */
  integration: string | undefined;
  host: string | undefined;
  reason: string | undefined;
}

export interface KindTexts {
  /** With names that are cut to fit. */
  subject(organization: string, names: MailNames): string;
  /** What has happened, and what to do. */
  paragraphs(names: MailNames): [string, string];
  /** The label of the link. */
  action: string;
}

export interface MailTexts extends Record<MailKind, KindTexts> {
  dateLocale: string;
  greeting: string;
  expires(date: string): string;
  linkHint: string;
  unexpected: string;
  footer(organization: string): string;
}

/** A mail about an alarm begins with what it is, for whoever sees the subject alone. */
const alarmSubject = (organization: string, { alarm, device }: MailNames): string =>
  [alarm, ...(device === undefined ? [] : [device]), organization].join(" – ");

const alarmLine = ({ alarm, device, time }: MailNames): string =>
  `${alarm}${device === undefined ? "" : ` – ${device}`}${time === undefined ? "" : ` (${time})`}.`;

/** The person with the organization behind, or the organization alone. */
const sender = ({ inviter, organization }: MailNames): string =>
  inviter === undefined ? organization : `${inviter} (${organization})`;

const english: MailTexts = {
  dateLocale: "en-GB",
  greeting: "Hello,",
  ...webhookTexts.en,
  share_invitation: {
    subject: (organization) => `${organization} has shared a device with you`,
    paragraphs: (names) => [
      `${sender(names)} has shared ${names.device === undefined ? "a device" : `the device “${names.device}”`} with you.`,
      "Please accept the invitation to view its data.",
    ],
    action: "Accept the invitation",
  },
  member_invitation: {
    subject: (organization) => `Invitation to join ${organization}`,
    paragraphs: ({ inviter, organization }) => [
      inviter === undefined
        ? `You are invited to join ${organization} on Vigil.`
        : `${inviter} invites you to join ${organization} on Vigil.`,
      "Please accept the invitation to set up your access.",
    ],
    action: "Accept the invitation",
  },
  portal_activation: {
    subject: (organization) => `Activate your ${organization} account`,
    paragraphs: ({ organization }) => [
      `An account has been created for you at ${organization}.`,
      "Please choose a password to activate it.",
    ],
    action: "Activate the account",
  },
  password_reset: {
    subject: (organization) => `Choose a new password for ${organization}`,
    paragraphs: () => [
      "A new password was asked for your account.",
      "Please choose it with the link below. Your old password works until then.",
    ],
    action: "Choose a new password",
  },
  alarm: {
    subject: alarmSubject,
    paragraphs: (names) => [
      alarmLine(names),
      names.isLast
        ? "Please look at the device in the console. Further alarms of this hour are not mailed; the console shows them all."
        : "Please look at the device in the console.",
    ],
    action: "Open the device",
  },
  expires: (date) => `The link is valid until ${date}.`,
  linkHint: "If the button does not work, please copy this address into your browser:",
  unexpected: "If you were not expecting this e-mail, you can ignore it.",
  footer: (organization) => `This message was sent automatically on behalf of ${organization}. Please do not reply.`,
};

const italian: MailTexts = {
  dateLocale: "it",
  greeting: "Gentile utente,",
  ...webhookTexts.it,
  share_invitation: {
    subject: (organization) => `${organization} ha condiviso un dispositivo con Lei`,
    paragraphs: (names) => [
      `${sender(names)} ha condiviso con Lei ${names.device === undefined ? "un dispositivo" : `il dispositivo «${names.device}»`}.`,
      "Accetti l’invito per consultarne i dati.",
    ],
    action: "Accetta l’invito",
  },
  member_invitation: {
    subject: (organization) => `Invito a far parte di ${organization}`,
    paragraphs: ({ inviter, organization }) => [
      inviter === undefined
        ? `La invitiamo a far parte di ${organization} su Vigil.`
        : `${inviter} La invita a far parte di ${organization} su Vigil.`,
      "Accetti l’invito per creare il Suo accesso.",
    ],
    action: "Accetta l’invito",
  },
  portal_activation: {
    subject: (organization) => `Attivazione del Suo account ${organization}`,
    paragraphs: ({ organization }) => [
      `È stato creato un account per Lei presso ${organization}.`,
      "Per attivarlo, scelga una password.",
    ],
    action: "Attiva l’account",
  },
  password_reset: {
    subject: (organization) => `Nuova password per ${organization}`,
    paragraphs: () => [
      "È stata richiesta una nuova password per il Suo account.",
      "La scelga con il collegamento qui sotto. Fino ad allora resta valida quella attuale.",
    ],
    action: "Scegli una nuova password",
  },
  alarm: {
    subject: alarmSubject,
    paragraphs: (names) => [
      alarmLine(names),
      names.isLast
        ? "Controlli il dispositivo nella console. Per quest’ora non Le invieremo altre e-mail; la console mostra tutti gli allarmi."
        : "Controlli il dispositivo nella console.",
    ],
    action: "Apri il dispositivo",
  },
  // "Valido fino al" would need "all’" before 8 and 11.
  expires: (date) => `Scadenza del collegamento: ${date}.`,
  linkHint: "Se il pulsante non funziona, copi questo indirizzo nel browser:",
  unexpected: "Se non si aspettava questa e-mail, può ignorarla.",
  footer: (organization) =>
    `Messaggio automatico inviato per conto di ${organization}. La preghiamo di non rispondere.`,
};

const german: MailTexts = {
  dateLocale: "de",
  greeting: "Guten Tag,",
  ...webhookTexts.de,
  share_invitation: {
    subject: (organization) => `${organization} hat ein Gerät mit Ihnen geteilt`,
    paragraphs: (names) => [
      `${sender(names)} hat ${names.device === undefined ? "ein Gerät" : `das Gerät „${names.device}“`} mit Ihnen geteilt.`,
      "Bitte nehmen Sie die Einladung an, um die Daten des Geräts einzusehen.",
    ],
    action: "Einladung annehmen",
  },
  member_invitation: {
    subject: (organization) => `Einladung zu ${organization}`,
    paragraphs: ({ inviter, organization }) => [
      inviter === undefined
        ? `Sie sind eingeladen, ${organization} bei Vigil beizutreten.`
        : `${inviter} lädt Sie ein, ${organization} bei Vigil beizutreten.`,
      "Bitte nehmen Sie die Einladung an, um Ihren Zugang einzurichten.",
    ],
    action: "Einladung annehmen",
  },
  portal_activation: {
    subject: (organization) => `Aktivieren Sie Ihr Konto bei ${organization}`,
    paragraphs: ({ organization }) => [
      `Für Sie wurde ein Konto bei ${organization} angelegt.`,
      "Bitte legen Sie ein Passwort fest, um das Konto zu aktivieren.",
    ],
    action: "Konto aktivieren",
  },
  password_reset: {
    subject: (organization) => `Neues Passwort für ${organization}`,
    paragraphs: () => [
      "Für Ihr Konto wurde ein neues Passwort angefordert.",
      "Bitte legen Sie es mit dem folgenden Link fest. Bis dahin gilt das bisherige.",
    ],
    action: "Neues Passwort festlegen",
  },
  alarm: {
    subject: alarmSubject,
    paragraphs: (names) => [
      alarmLine(names),
      names.isLast
        ? "Bitte sehen Sie in der Konsole nach dem Gerät. Weitere Alarme dieser Stunde werden nicht per E-Mail gemeldet; die Konsole zeigt alle."
        : "Bitte sehen Sie in der Konsole nach dem Gerät.",
    ],
    action: "Gerät öffnen",
  },
  expires: (date) => `Der Link ist gültig bis zum ${date}.`,
  linkHint: "Falls die Schaltfläche nicht funktioniert, kopieren Sie bitte diese Adresse in Ihren Browser:",
  unexpected: "Falls Sie diese E-Mail nicht erwartet haben, können Sie sie ignorieren.",
  footer: (organization) =>
    `Diese Nachricht wurde automatisch im Auftrag von ${organization} versendet. Bitte antworten Sie nicht darauf.`,
};

const french: MailTexts = {
  dateLocale: "fr",
  greeting: "Bonjour,",
  ...webhookTexts.fr,
  share_invitation: {
    subject: (organization) => `${organization} a partagé un appareil avec vous`,
    paragraphs: (names) => [
      `${sender(names)} a partagé avec vous ${names.device === undefined ? "un appareil" : `l’appareil «\u00a0${names.device}\u00a0»`}.`,
      "Veuillez accepter l’invitation pour consulter ses données.",
    ],
    action: "Accepter l’invitation",
  },
  member_invitation: {
    subject: (organization) => `Invitation à rejoindre ${organization}`,
    paragraphs: ({ inviter, organization }) => [
      inviter === undefined
        ? `Nous vous invitons à rejoindre ${organization} sur Vigil.`
        : `${inviter} vous invite à rejoindre ${organization} sur Vigil.`,
      "Veuillez accepter l’invitation pour créer votre accès.",
    ],
    action: "Accepter l’invitation",
  },
  portal_activation: {
    subject: (organization) => `Activez votre compte ${organization}`,
    paragraphs: ({ organization }) => [
      `Un compte a été créé pour vous chez ${organization}.`,
      "Veuillez choisir un mot de passe pour l’activer.",
    ],
    action: "Activer le compte",
  },
  password_reset: {
    subject: (organization) => `Nouveau mot de passe pour ${organization}`,
    paragraphs: () => [
      "Un nouveau mot de passe a été demandé pour votre compte.",
      "Veuillez le choisir avec le lien ci-dessous. L’ancien reste valable jusque-là.",
    ],
    action: "Choisir un nouveau mot de passe",
  },
  alarm: {
    subject: alarmSubject,
    paragraphs: (names) => [
      alarmLine(names),
      names.isLast
        ? "Veuillez consulter l’appareil dans la console. Les autres alarmes de cette heure ne seront pas envoyées par e-mail\u00a0; la console les montre toutes."
        : "Veuillez consulter l’appareil dans la console.",
    ],
    action: "Ouvrir l’appareil",
  },
  expires: (date) => `Le lien est valable jusqu’au ${date.replace(/^1 /, "1er ")}.`,
  linkHint: "Si le bouton ne fonctionne pas, veuillez copier cette adresse dans votre navigateur\u00a0:",
  unexpected: "Si vous n’attendiez pas cet e-mail, vous pouvez l’ignorer.",
  footer: (organization) => `${organization} vous envoie ce message automatique. Merci de ne pas y répondre.`,
};

const spanish: MailTexts = {
  dateLocale: "es",
  greeting: "Estimado/a usuario/a:",
  ...webhookTexts.es,
  share_invitation: {
    subject: (organization) => `${organization} ha compartido un dispositivo con usted`,
    paragraphs: (names) => [
      `${sender(names)} ha compartido con usted ${names.device === undefined ? "un dispositivo" : `el dispositivo «${names.device}»`}.`,
      "Acepte la invitación para consultar sus datos.",
    ],
    action: "Aceptar la invitación",
  },
  member_invitation: {
    subject: (organization) => `Invitación a unirse a ${organization}`,
    paragraphs: ({ inviter, organization }) => [
      inviter === undefined
        ? `Le invitamos a unirse a ${organization} en Vigil.`
        : `${inviter} le invita a unirse a ${organization} en Vigil.`,
      "Acepte la invitación para crear su acceso.",
    ],
    action: "Aceptar la invitación",
  },
  portal_activation: {
    subject: (organization) => `Active su cuenta de ${organization}`,
    paragraphs: ({ organization }) => [
      `Se ha creado una cuenta para usted en ${organization}.`,
      "Elija una contraseña para activarla.",
    ],
    action: "Activar la cuenta",
  },
  password_reset: {
    subject: (organization) => `Nueva contraseña para ${organization}`,
    paragraphs: () => [
      "Se ha solicitado una nueva contraseña para su cuenta.",
      "Elíjala con el enlace siguiente. Hasta entonces es válida la anterior.",
    ],
    action: "Elegir una nueva contraseña",
  },
  alarm: {
    subject: alarmSubject,
    paragraphs: (names) => [
      alarmLine(names),
      names.isLast
        ? "Consulte el dispositivo en la consola. No enviaremos más alarmas por correo durante esta hora; la consola las muestra todas."
        : "Consulte el dispositivo en la consola.",
    ],
    action: "Abrir el dispositivo",
  },
  expires: (date) => `El enlace es válido hasta el ${date}.`,
  linkHint: "Si el botón no funciona, copie esta dirección en su navegador:",
  unexpected: "Si no esperaba este correo, puede ignorarlo.",
  footer: (organization) => `Mensaje automático enviado en nombre de ${organization}. Le rogamos que no responda.`,
};

export const mailTexts: Readonly<Record<MailLanguage, MailTexts>> = {
  en: english,
  it: italian,
  de: german,
  fr: french,
  es: spanish,
};
