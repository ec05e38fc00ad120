import type { Locale } from "../resources/organizations/organization-settings.ts";
import { type ActivateTexts, activateTexts } from "./activate-texts.ts";

/** What the page says beside or instead of the one that sets a first password. `{organization}` is the one that invites. */
interface OwnTexts {
  title: string;
  share: string;
  member: string;
  firstName: string;
  lastName: string;
  currentPassword: string;
  currentHint: string;
  wrongPassword: string;
  tooMany: string;
  submit: string;
  doneTitle: string;
  done: string;
}

export type AcceptTexts = ActivateTexts & OwnTexts;

const ownTexts: Readonly<Record<Locale, OwnTexts>> = {
  en: {
    title: "Accept the invitation",
    share: "{organization} shares a device with you.",
    member: "{organization} has invited you as a member.",
    firstName: "First name",
    lastName: "Last name",
    currentPassword: "Your password",
    currentHint: "You have an account with this address already. Please use its password.",
    wrongPassword: "The password is wrong.",
    tooMany: "Too many attempts. Please try again later.",
    submit: "Accept",
    doneTitle: "Invitation accepted",
    done: "You can sign in to the portal from now on.",
  },
  it: {
    title: "Accetti l’invito",
    share: "{organization} condivide un dispositivo con Lei.",
    member: "{organization} La invita a diventarne membro.",
    firstName: "Nome",
    lastName: "Cognome",
    currentPassword: "La Sua password",
    currentHint: "Ha già un account con questo indirizzo. Usi la password di quell’account.",
    wrongPassword: "La password è errata.",
    tooMany: "Troppi tentativi. Riprovi più tardi.",
    submit: "Accetta",
    doneTitle: "Invito accettato",
    done: "Da ora può accedere al portale.",
  },
  de: {
    title: "Einladung annehmen",
    share: "{organization} teilt ein Gerät mit Ihnen.",
    member: "{organization} hat Sie als Mitglied eingeladen.",
    firstName: "Vorname",
    lastName: "Nachname",
    currentPassword: "Ihr Passwort",
    currentHint: "Sie haben mit dieser Adresse schon ein Konto. Bitte verwenden Sie dessen Passwort.",
    wrongPassword: "Das Passwort ist falsch.",
    tooMany: "Zu viele Versuche. Bitte versuchen Sie es später noch einmal.",
    submit: "Annehmen",
    doneTitle: "Einladung angenommen",
    done: "Sie können sich ab jetzt im Portal anmelden.",
  },
  fr: {
    title: "Accepter l’invitation",
    share: "{organization} partage un appareil avec vous.",
    member: "{organization} vous invite à devenir membre.",
    firstName: "Prénom",
    lastName: "Nom",
    currentPassword: "Votre mot de passe",
    currentHint: "Vous avez déjà un compte avec cette adresse. Utilisez son mot de passe.",
    wrongPassword: "Le mot de passe est incorrect.",
    tooMany: "Trop de tentatives. Réessayez plus tard.",
    submit: "Accepter",
    doneTitle: "Invitation acceptée",
    done: "Vous pouvez désormais vous connecter au portail.",
  },
  es: {
    title: "Acepte la invitación",
    share: "{organization} comparte un dispositivo con usted.",
    member: "{organization} le ha invitado como miembro.",
    firstName: "Nombre",
    lastName: "Apellidos",
    currentPassword: "Su contraseña",
    currentHint: "Ya tiene una cuenta con esta dirección. Utilice su contraseña.",
    wrongPassword: "La contraseña es incorrecta.",
    tooMany: "Demasiados intentos. Vuelva a intentarlo más tarde.",
    submit: "Aceptar",
    doneTitle: "Invitación aceptada",
    done: "A partir de ahora puede iniciar sesión en el portal.",
  },
};

export const acceptTexts = (locale: Locale): AcceptTexts => ({ ...activateTexts[locale], ...ownTexts[locale] });
