/** What the page of a mailed link has to say when it is opened. Opening uses nothing up: programs that check mails open links too. */
export type LinkView =
  | { kind: "open"; organization: string; email: string; invitation?: OpenInvitation }
  /** Unknown, used or revoked. */
  | { kind: "invalid" }
  | { kind: "expired" };

export interface OpenInvitation {
  kind: "share" | "member";
  first_name: string;
  last_name: string;
  /** A person with a password gives it; anybody else chooses one. */
  has_password: boolean;
  /** A member has a name already. */
  is_member: boolean;
}

export const linkStatus = { open: 200, invalid: 404, expired: 410 } as const;
