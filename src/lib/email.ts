const maxAddressLength = 254;
const address =
  /^[^\s@<>()[\]\\,;:"\u0000-\u001f]+@([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)$/i;

/** An address that a mail server takes; `root@localhost` is one. The length is checked first: the pattern is for short texts. */
export const isEmail = (text: string): boolean => text.length <= maxAddressLength && address.test(text);

/** An address at a domain of the internet, as partners give them. */
export const isInternetEmail = (text: string): boolean => isEmail(text) && text.lastIndexOf(".") > text.indexOf("@");

/** The address in the form that is stored and compared (lower case), or undefined for what is none. */
export function normalizeEmail(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  return isEmail(trimmed) ? trimmed : undefined;
}
