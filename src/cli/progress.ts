const everyMs = 2000;

/** Says how far a long command has come, every two seconds and never faster than that. */
export function makeProgress(note: (text: string) => void, what: string): (done: number, total: number) => void {
  let nextAt = Date.now() + everyMs;
  return (done, total) => {
    if (Date.now() < nextAt) return;
    nextAt = Date.now() + everyMs;
    const percent = total === 0 ? 100 : Math.floor((100 * Math.min(done, total)) / total);
    note(`vigil: ${what}: ${percent} % of ${showBytes(total)}`);
  };
}

export function showBytes(bytes: number): string {
  const mib = bytes / 1024 ** 2;
  return mib < 1024 ? `${mib.toFixed(1)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}
