import type { Locale } from "../resources/organizations/organization-settings.ts";

export interface ActivateTexts {
  title: string;
  /** `{organization}` stands for the name of the one that invites. */
  intro: string;
  email: string;
  password: string;
  hint: string;
  show: string;
  submit: string;
  tooShort: string;
  failed: string;
  doneTitle: string;
  done: string;
  invalidTitle: string;
  invalid: string;
  expiredTitle: string;
  expired: string;
  noScript: string;
}

export const activateTexts: Readonly<Record<Locale, ActivateTexts>> = {
  en: {
    title: "Set your password",
    intro: "{organization} has invited you to its portal. Choose a password for your account.",
    email: "E-mail address",
    password: "New password",
    hint: "At least 8 characters. A few words that you can remember make a good password.",
    show: "Show password",
    submit: "Set password",
    tooShort: "The password needs at least 8 characters.",
    failed: "That did not work. Please try again in a moment.",
    doneTitle: "Your password is set",
    done: "You can sign in to the portal from now on.",
    invalidTitle: "This link is not valid",
    invalid: "It may have been used already. If you have a password, sign in; otherwise ask for a new invitation.",
    expiredTitle: "This link has expired",
    expired: "Links are valid for seven days. Please ask for a new invitation.",
    noScript: "This page needs JavaScript. Please switch it on in your browser.",
  },
  it: {
    title: "Imposti la Sua password",
    intro: "{organization} La invita nel proprio portale. Scelga una password per il Suo account.",
    email: "Indirizzo e-mail",
    password: "Nuova password",
    hint: "Almeno 8 caratteri. Alcune parole facili da ricordare sono una buona password.",
    show: "Mostra la password",
    submit: "Imposta la password",
    tooShort: "La password deve avere almeno 8 caratteri.",
    failed: "Non ha funzionato. Riprovi tra poco.",
    doneTitle: "La Sua password è impostata",
    done: "Da ora può accedere al portale.",
    invalidTitle: "Questo link non è valido",
    invalid: "Forse è già stato usato. Se ha una password, acceda; altrimenti chieda un nuovo invito.",
    expiredTitle: "Questo link è scaduto",
    expired: "I link valgono sette giorni. Chieda un nuovo invito.",
    noScript: "Questa pagina richiede JavaScript. Lo attivi nel browser.",
  },
  de: {
    title: "Passwort festlegen",
    intro: "{organization} hat Sie in das Portal eingeladen. Wählen Sie ein Passwort für Ihr Konto.",
    email: "E-Mail-Adresse",
    password: "Neues Passwort",
    hint: "Mindestens 8 Zeichen. Einige Wörter, die Sie sich merken können, sind ein gutes Passwort.",
    show: "Passwort anzeigen",
    submit: "Passwort festlegen",
    tooShort: "Das Passwort braucht mindestens 8 Zeichen.",
    failed: "Das hat nicht geklappt. Bitte versuchen Sie es gleich noch einmal.",
    doneTitle: "Ihr Passwort ist festgelegt",
    done: "Sie können sich ab jetzt im Portal anmelden.",
    invalidTitle: "Dieser Link ist nicht gültig",
    invalid:
      "Vielleicht wurde er schon benutzt. Wenn Sie ein Passwort haben, melden Sie sich an; sonst bitten Sie um eine neue Einladung.",
    expiredTitle: "Dieser Link ist abgelaufen",
    expired: "Links gelten sieben Tage. Bitten Sie um eine neue Einladung.",
    noScript: "Diese Seite braucht JavaScript. Bitte schalten Sie es im Browser ein.",
  },
  fr: {
    title: "Définir votre mot de passe",
    intro: "{organization} vous invite sur son portail. Choisissez un mot de passe pour votre compte.",
    email: "Adresse e-mail",
    password: "Nouveau mot de passe",
    hint: "Au moins 8 caractères. Quelques mots faciles à retenir font un bon mot de passe.",
    show: "Afficher le mot de passe",
    submit: "Définir le mot de passe",
    tooShort: "Le mot de passe doit contenir au moins 8 caractères.",
    failed: "Cela n’a pas fonctionné. Réessayez dans un instant.",
    doneTitle: "Votre mot de passe est défini",
    done: "Vous pouvez désormais vous connecter au portail.",
    invalidTitle: "Ce lien n’est pas valable",
    invalid:
      "Il a peut-être déjà été utilisé. Si vous avez un mot de passe, connectez-vous ; sinon, demandez une nouvelle invitation.",
    expiredTitle: "Ce lien a expiré",
    expired: "Les liens sont valables sept jours. Demandez une nouvelle invitation.",
    noScript: "Cette page nécessite JavaScript. Activez-le dans votre navigateur.",
  },
  es: {
    title: "Establezca su contraseña",
    intro: "{organization} le ha invitado a su portal. Elija una contraseña para su cuenta.",
    email: "Correo electrónico",
    password: "Nueva contraseña",
    hint: "Al menos 8 caracteres. Unas palabras fáciles de recordar son una buena contraseña.",
    show: "Mostrar la contraseña",
    submit: "Establecer la contraseña",
    tooShort: "La contraseña debe tener al menos 8 caracteres.",
    failed: "No ha funcionado. Vuelva a intentarlo en un momento.",
    doneTitle: "Su contraseña está establecida",
    done: "A partir de ahora puede iniciar sesión en el portal.",
    invalidTitle: "Este enlace no es válido",
    invalid: "Quizá ya se ha utilizado. Si tiene una contraseña, inicie sesión; si no, pida una nueva invitación.",
    expiredTitle: "Este enlace ha caducado",
    expired: "Los enlaces son válidos durante siete días. Pida una nueva invitación.",
    noScript: "Esta página necesita JavaScript. Actívelo en su navegador.",
  },
};
