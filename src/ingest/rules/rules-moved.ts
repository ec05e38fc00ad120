/** The rules, or what they know of a device, are not those that were evaluated. Nothing was stored; the next attempt reads again. */
export class RulesMoved extends Error {
  constructor() {
    super("the rules have moved on");
  }
}
