/** Locks of outbound lanes, one for each organization, given in the order in which they are asked for. */
export class Lanes {
  readonly #waiting = new Map<number, (() => void)[]>();

  /** Takes the locks one after the other, in the order of their numbers. */
  lock(organizations: readonly number[], done: () => void): void {
    let count = 0;
    const take = (): void => {
      for (; count < organizations.length; count++) {
        const organization = organizations[count] as number;
        const queue = this.#waiting.get(organization);
        if (queue) {
          queue.push(() => {
            count++;
            take();
          });
          return;
        }
        this.#waiting.set(organization, []);
      }
      done();
    };
    take();
  }

  unlock(organizations: readonly number[]): void {
    for (const organization of organizations) {
      const next = this.#waiting.get(organization)?.shift();
      if (next) next();
      else this.#waiting.delete(organization);
    }
  }
}
