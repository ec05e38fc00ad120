import { PasswordPage } from "../parts/password-page.tsx";
import { activateTexts } from "../texts/activate.ts";

/** Where the mail of a portal activation leads: the first password. */
export const ActivatePage = () => <PasswordPage texts={activateTexts} target="/console/api/activate/" />;
