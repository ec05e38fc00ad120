/** Strict: the cookie goes along with calls of our own pages alone. Scripts cannot read it. */
const attributes = (baseUrl: string): string =>
  `HttpOnly; SameSite=Strict; Path=/${baseUrl.startsWith("https:") ? "; Secure" : ""}`;

export const setSessionCookie = (token: string, baseUrl: string): string =>
  `vigil_session=${token}; ${attributes(baseUrl)}`;

export const clearSessionCookie = (baseUrl: string): string => `vigil_session=; ${attributes(baseUrl)}; Max-Age=0`;
