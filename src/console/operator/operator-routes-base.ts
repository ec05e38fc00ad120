import type { Caller, OperatorPrincipal } from "../../http/principal.ts";
import { invalidToken } from "../../lib/errors.ts";

export const operatorPath = "/console/api/operator/";

/** For operators alone: neither partners nor members of organizations, whatever their role. */
export const forOperators = { tag: "Operation", partners: "never", people: "never", operators: true } as const;

/** The caller of such a route, as a principal and as the log names them. */
export function operatorOf(caller: Caller): { principal: OperatorPrincipal; operator: { id: string; email: string } } {
  if (caller.kind !== "operator") throw invalidToken();
  return { principal: caller, operator: { id: caller.id, email: caller.operator.email } };
}
