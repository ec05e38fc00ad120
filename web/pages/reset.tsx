import { PasswordPage } from "../parts/password-page.tsx";
import { resetTexts } from "../texts/reset.ts";

/** For those who forgot their password: another one. */
export const ResetPage = () => <PasswordPage texts={resetTexts} target="/console/api/password/reset/" />;
